-- How children of forkProcess are interrupted, in every way of linking.
module ForkInterrupt (interrupt, interrupted, rest, test, testAll) where
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.IO
import System.Posix.IO
import System.Posix.Process
import System.Posix.Signals
import System.Posix.Types

-- A line in one piece, for other processes write as well.
say :: String -> IO ()
say text = putStrLn text >> hFlush stdout

-- The end of a pipe that one process waits at, and that which the other writes to.
data Bell = Bell Fd Fd

newBell :: IO Bell
newBell = uncurry Bell <$> createPipe

ring, await :: Bell -> IO ()
ring (Bell _ out) = void (fdWrite out "x")
await (Bell end _) = void (fdRead end 1)

-- Much longer than any process should wait for a signal.
rest :: IO ()
rest = threadDelay 30000000 >> say "not interrupted"

interrupted :: String -> IO () -> IO ()
interrupted who action = action `catch` \e -> say (who ++ ": " ++ show (e :: AsyncException))

-- test NAME PARENT CHILD: forks the child, and does the parent's part when the child has rung the bell. The child's
-- second bell is the parent's.
test :: String -> (ProcessID -> IO () -> IO ()) -> (IO () -> IO () -> IO ()) -> IO ()
test name parent child = do
  ready <- newBell
  go <- newBell
  pid <- forkProcess (child (ring ready) (await go))
  await ready
  parent pid (ring go)
  status <- getProcessStatus True False pid
  say (name ++ ": " ++ show status)
  forM_ [ready, go] $ \(Bell end out) -> closeFd end >> closeFd out

interrupt :: ProcessID -> IO () -> IO ()
interrupt pid go = signalProcess sigINT pid >> go

testAll :: IO ()
testAll = do
  test "uncaught" interrupt $ \ready _ -> ready >> rest
  test "caught" interrupt $ \ready _ -> interrupted "main" (ready >> rest)
  test "caught as it computes" interrupt $ \ready _ ->
    interrupted "main" (ready >> evaluate (length (filter even [1 .. 10 ^ (12 :: Int) :: Int])) >>= print)
  test "only the main thread" interrupt $ \ready _ -> do
    begun <- newEmptyMVar
    hold <- newEmptyMVar
    over <- newEmptyMVar
    _ <- forkIO (interrupted "other" (putMVar begun () >> takeMVar hold >> say "other: goes on") >> putMVar over ())
    takeMVar begun
    interrupted "main" (ready >> rest)
    putMVar hold ()
    takeMVar over
  test "a second one ends it" (\pid _ -> interrupt pid (return ())) $ \ready _ -> do
    me <- getProcessID
    interrupted "main" (ready >> rest)
    signalProcess sigINT me
    interrupted "main" rest
  test "masked" interrupt $ \ready go -> do
    mask_ (ready >> go >> say "masked until here")
    rest
  test "unflushed" interrupt $ \ready _ -> do
    hSetBuffering stdout (BlockBuffering Nothing)
    putStr "flushed at the end "
    ready
    rest
  handled <- newEmptyMVar
  let tell text = Catch (say text >> getProcessID >>= putMVar handled)
  old <- installHandler sigINT (tell "parent's handler") Nothing
  test "the parent handles interrupts" interrupt $ \ready _ -> interrupted "main" (ready >> rest)
  raiseSignal sigINT
  takeMVar handled >>= \p -> getProcessID >>= print . (== p)
  _ <- installHandler sigINT Ignore Nothing
  test "the parent ignores interrupts" interrupt $ \ready _ -> interrupted "main" (ready >> rest)
  _ <- installHandler sigINT Default Nothing
  test "the parent is ended by interrupts" interrupt $ \ready _ -> interrupted "main" (ready >> rest)
  _ <- installHandler sigINT old Nothing
  test "the child handles interrupts" interrupt $ \ready _ -> do
    _ <- installHandler sigINT (tell "child's handler") Nothing
    ready
    takeMVar handled >>= \p -> getProcessID >>= print . (== p)
  test "the child ignores interrupts" interrupt $ \ready go -> do
    _ <- installHandler sigINT Ignore Nothing
    ready >> go >> say "goes on"
  _ <- installHandler sigUSR1 (tell "parent's handler of another signal") Nothing
  test "other handlers are inherited" (\pid _ -> signalProcess sigUSR1 pid) $ \ready _ -> do
    ready
    takeMVar handled >>= \p -> getProcessID >>= print . (== p)
  test "ended by a signal" (\pid _ -> signalProcess sigTERM pid) $ \ready _ -> ready >> rest
  test "child of a child" interrupt $ \ready _ -> do
    test "grandchild" interrupt $ \inner _ -> interrupted "grandchild" (inner >> rest)
    interrupted "child" (ready >> rest)
  done <- newEmptyMVar
  _ <- forkIO (test "forked by a thread" interrupt (\ready _ -> interrupted "main" (ready >> rest)) >> putMVar done ())
  takeMVar done
