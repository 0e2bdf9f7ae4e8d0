-- A child of forkProcess ends as a program does: by its exit code, with the texts of what it does not catch, with what
-- it has not flushed, and with its finalizers.
-- ghc: -O
-- c: proc_fork_exit_c.c
-- args: +RTS -M40m -K1m -RTS
-- timeout: 60
-- skip-stress: a collection before the end runs the finalizer that must not run at the end
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign hiding (void)
import System.Environment
import System.Exit
import System.IO
import System.Mem
import System.Posix.IO
import System.Posix.Process
import System.Posix.Types

foreign import ccall "say_at_exit" sayAtExit :: IO ()
foreign import ccall "&finalize" finalize :: FinalizerPtr ()

newtype Odd = Odd String
instance Show Odd where
  show (Odd s) = "odd: " ++ s
instance Exception Odd where
  displayException (Odd s) = "displayed: " ++ s

say :: String -> IO ()
say text = putStrLn text >> hFlush stdout

test :: String -> IO () -> IO ()
test name child = do
  pid <- forkProcess child
  status <- getProcessStatus True False pid
  say (name ++ ": " ++ show status)

-- From now on nobody reads what is written to stdout.
nobodyReads :: IO ()
nobodyReads = do
  (end, out) <- createPipe
  closeFd end
  void (dupTo out stdOutput)
  hSetBuffering stdout (BlockBuffering Nothing)

withFinalizer :: IO () -> IO ()
withFinalizer action = do
  memory <- mallocBytes 8 >>= newForeignPtr finalize
  action
  touchForeignPtr memory

main :: IO ()
main = do
  hSetBuffering stderr LineBuffering
  test "returns" (return ())
  forM_ [1, 255, 256, 300, -2, -15, -200] $ \code -> test ("code " ++ show code) (exitWith (ExitFailure code))
  test "succeeds" exitSuccess
  test "error" (errorWithoutStackTrace "an error")
  test "userError" (ioError (userError "an error"))
  test "arithmetic" (evaluate (1 `div` (0 :: Int)) >>= print)
  test "own exception" (throwIO (Odd "exception"))
  test "die" (die "dies")
  test "killed" (myThreadId >>= killThread)
  test "interrupt" (throwIO UserInterrupt)
  test "by another thread" $ do
    me <- myThreadId
    _ <- forkIO (throwTo me (Odd "from another thread"))
    newEmptyMVar >>= takeMVar
  test "exit by another thread" $ do
    me <- myThreadId
    _ <- forkIO (throwTo me (ExitFailure 7))
    newEmptyMVar >>= takeMVar
  test "exit in another thread" $ do
    done <- newEmptyMVar
    _ <- forkIO (exitWith (ExitFailure 7) `catch` \e -> say (show (e :: ExitCode)) >> putMVar done ())
    takeMVar done
  test "uncaught in another thread" $ do
    done <- newEmptyMVar
    _ <- forkFinally (throwIO (Odd "in another thread")) (\r -> either (say . show) return r >> putMVar done ())
    takeMVar done
  test "deadlock" (newEmptyMVar >>= takeMVar)
  test "deadlock in STM" (atomically retry)
  test "caught deadlock" ((newEmptyMVar >>= takeMVar) `catch` \e -> say (show (e :: BlockedIndefinitelyOnMVar)))
  n <- length <$> getArgs
  test "heap overflow" (evaluate (let l = [n ..] in length l + head l) >>= print)
  test "caught heap overflow" $
    (evaluate (let l = [n ..] in length l + head l) >>= print) `catch` \e -> say (show (e :: AsyncException))
  test "caught stack overflow" ((evaluate (foldr (+) n [1 .. 10000000]) >>= print) `catch` \e -> say (show (e :: AsyncException)))
  test "flushes" (hSetBuffering stdout (BlockBuffering Nothing) >> putStr "left in the buffer ")
  test "flushes after an error" (hSetBuffering stdout (BlockBuffering Nothing) >> putStr "left in the buffer " >> exitWith (ExitFailure 2))
  test "flushes stderr" (hSetBuffering stderr (BlockBuffering Nothing) >> hPutStr stderr "left in stderr's buffer\n")
  test "nobody reads" (nobodyReads >> putStr "into the void")
  test "nobody reads, and it looks" (nobodyReads >> putStr "into the void" >> hFlush stdout >> hPutStrLn stderr "not reached")
  test "nobody reads, and it fails" (nobodyReads >> putStr "into the void" >> exitWith (ExitFailure 4))
  test "stdout is closed" (hClose stdout)
  test "stdout's descriptor is closed" (closeFd stdOutput >> putStr "into the void" >> exitWith (ExitFailure 4))
  test "finalizers at exit" $ do
    var <- newIORef ()
    _ <- mkWeakIORef var (say "no Haskell finalizer runs at exit")
    withFinalizer (readIORef var >> say "ends")
  test "finalizers at an error" (withFinalizer (throwIO (Odd "beside a finalizer")))
  test "a finalizer throws" $ do
    var <- newIORef ()
    ran <- newEmptyMVar
    _ <- mkWeakIORef var (putMVar ran () >> throwIO (Odd "in a finalizer"))
    performMajorGC
    takeMVar ran
    say "goes on"
  test "C's atexit" (sayAtExit >> exitWith (ExitFailure 3))
  test "immediately" (putStr "lost" >> exitImmediately (ExitFailure 5))
  test "another program" (executeFile "/bin/sh" False ["-c", "echo $0 $1; exit 6", "a", "b"] Nothing)
  test "no such program" (executeFile "/nonexistent/program" False [] Nothing)
  test "a child's child" $ do
    test "child" (exitWith (ExitFailure 8))
    exitWith (ExitFailure 9)
  mask_ (test "masked" (getMaskingState >>= say . show))
  uninterruptibleMask_ (test "masked for good" (getMaskingState >>= say . show))
  test "not masked" (getMaskingState >>= say . show)
  -- The parent's memory is freed at its own end, once.
  withFinalizer (test "the parent's finalizers" (return ()))
