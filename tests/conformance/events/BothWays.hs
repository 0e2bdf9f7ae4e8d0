-- Programs of this folder that run with OS threads (`-threaded`) and without: the bodies that both have in common.
module BothWays (delays, signals, chain, statuses, mainEnds, unpollable) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import Foreign.C
import GHC.Clock
import GHC.Conc (threadStatus)
import System.Directory (getTemporaryDirectory, removeFile)
import System.Exit
import System.IO
import System.Posix.IO
import System.Posix.Signals
import System.Posix.Types (Fd)
import System.Timeout
import Waits

-- The order in which delays end. It follows from the delays only if all began within less than the time between two
-- deadlines: otherwise they do it again.
orderOfDelays :: [Int] -> IO [Int]
orderOfDelays ks = do
  out <- newChan
  begin <- getMonotonicTime
  mapM (\k -> forkIO (threadDelay (k * step) >> writeChan out k)) ks >>= mapM_ untilBlocked
  end <- getMonotonicTime
  woken <- replicateM (length ks) (readChan out)
  if (end - begin) * 1000000 < fromIntegral step then return woken else orderOfDelays ks
  where
    step = 20000 :: Int

-- threadDelay: 0, negative, tiny and endless ones, their order, and that none ends early.
delays :: IO ()
delays = do
  mapM_ threadDelay [0, -1, minBound, 1, 2, 10, 999]
  within 0.5 (mapM_ threadDelay [0, 0, minBound, -1000000000]) >>= print
  orderOfDelays [5, 2, 4, 1, 6, 3] >>= print
  -- Never early, by whatever clock the program looks at.
  early <- newIORef (0 :: Int)
  forM_ [1, 10, 100, 500, 1000, 1500, 5000] $ \us -> do
    begin <- getMonotonicTimeNSec
    threadDelay us
    end <- getMonotonicTimeNSec
    when (fromIntegral (end - begin) < us * 1000) (modifyIORef early (+ 1))
  readIORef early >>= print
  -- Equal ones all end.
  done <- newChan
  forM_ [1 .. 200 :: Int] $ \i -> forkIO (threadDelay 5000 >> writeChan done i)
  replicateM 200 (readChan done) >>= print . (== [1 .. 200]) . sort
  -- The longest do not end, and leave shorter ones alone.
  longest <- forM [maxBound, maxBound - 1, maxBound `div` 2, maxBound `div` 1000, 2 ^ (62 :: Int), 2 ^ (40 :: Int)]
    (spawn . threadDelay)
  threadDelay 20000
  forM_ longest $ \(_, v) -> tryReadMVar v >>= print . maybe "sleeps" (either show show)
  forM_ longest $ \(t, _) -> killThread t
  mapM_ (report "killed") longest
  -- In every masking state a delay ends.
  forM_ [mask_, uninterruptibleMask_] $ \masked -> masked (threadDelay 1000 >> threadDelay 0)
  getMaskingState >>= print

foreign import ccall safe "usleep" c_usleep :: CUInt -> IO CInt

-- Handlers of signals run while the main thread waits for time, a descriptor, an MVar, a transaction, and a call.
signals :: IO ()
signals = do
  ran <- newEmptyMVar
  _ <- installHandler sigUSR1 (CatchInfo (\i -> putMVar ran (siginfoSignal i == sigUSR1))) Nothing
  (r, w) <- createPipe
  -- The waits go on through the signal, and end as they would.
  let during what wait = do
        t <- spawn wait
        raiseSignal sigUSR1
        takeMVar ran >>= \ok -> putStrLn (what ++ " " ++ show ok)
        return t
  during "delay" (threadDelay 20000) >>= report "ends"
  t1 <- during "descriptor" (threadWaitRead r)
  _ <- fdWrite w "x"
  report "ends" t1
  m <- newEmptyMVar
  t2 <- during "MVar" (takeMVar m)
  putMVar m 'm'
  report "ends" t2
  v <- newTVarIO False
  t3 <- during "transaction" (atomically (readTVar v >>= check))
  atomically (writeTVar v True)
  report "ends" t3
  -- The main thread itself waits, and another raises the signal.
  let raise = forkIO (threadDelay 3000 >> raiseSignal sigUSR1)
  _ <- raise
  threadDelay 20000
  takeMVar ran >>= print
  (r2, w2) <- createPipe
  _ <- raise
  _ <- forkIO (takeMVar ran >>= print >> void (fdWrite w2 "y"))
  threadWaitRead r2
  _ <- raise
  takeMVar ran >>= print
  -- A handler that uses waits, delays and time-outs itself.
  done <- newEmptyMVar
  _ <- installHandler sigUSR2 (Catch (do
    threadDelay 1000
    threadWaitRead r
    x <- timeout 2000 (threadDelay 100000000)
    putMVar done (show x))) Nothing
  raiseSignal sigUSR2
  takeMVar done >>= putStrLn
  -- A handler that raises in the main thread, which waits.
  main' <- myThreadId
  _ <- installHandler sigUSR2 (Catch (throwTo main' (userError "from a handler"))) Nothing
  _ <- forkIO (threadDelay 2000 >> raiseSignal sigUSR2)
  (try (threadDelay 100000000) :: IO (Either IOException ())) >>= print
  _ <- forkIO (threadDelay 2000 >> raiseSignal sigUSR2)
  (try (fdRead r 1 >> threadWaitRead r) :: IO (Either IOException ())) >>= print
  -- Many, each waited for.
  forM_ [1 .. 50 :: Int] $ \_ -> raiseSignal sigUSR1 >> takeMVar ran
  -- Beside a long safe call; then ignored and by default ignored ones.
  call <- newEmptyMVar
  _ <- forkIO (c_usleep 30000 >> putMVar call ())
  yield
  raiseSignal sigUSR1
  takeMVar ran >>= print
  takeMVar call
  _ <- installHandler sigUSR1 Ignore Nothing
  raiseSignal sigUSR1
  threadDelay 2000
  tryTakeMVar ran >>= print

-- A byte through a chain of this many pipes, each with a thread that waits; several times, and several bytes at once.
chain :: Int -> IO ()
chain n = do
  pipes <- replicateM (n + 1) createPipe
  forM_ (zip pipes (tail pipes)) $ \((a, _), (_, b)) -> forkIO $ forever $ do
    threadWaitRead a
    (s, _) <- fdRead a 100
    fdWrite b s
  let begin = snd (head pipes)
      end = fst (last pipes)
      receive left = when (left > 0) $ do
        threadWaitRead end
        (s, _) <- fdRead end 100
        receive (left - length s)
  forM_ [1 .. 5 :: Int] $ \i -> do
    _ <- fdWrite begin (show i)
    threadWaitRead end
    fdRead end 100 >>= print
  forM_ [1 .. 20 :: Int] $ \_ -> fdWrite begin "ab" >> yield
  receive (40 :: Int)
  putStrLn "all"

-- Threads that wait in the ways that need OS threads: for a registered delay, for a descriptor in a transaction, and
-- bound. Each goes on with an action.
inTransactions :: Fd -> IO () -> IO [(ThreadId, MVar (Either SomeException ()))]
inTransactions fd next
  | not rtsSupportsBoundThreads = return []
  | otherwise = do
      v <- registerDelay 100000000
      (wait, _) <- threadWaitReadSTM fd
      sequence
        [ spawn (atomically (readTVar v >>= check) >> next), spawn (atomically wait >> next)
        , spawnBy forkOS (threadWaitRead fd >> next)
        ]

-- What threadStatus says of threads that wait for time, descriptors and both.
statuses :: IO ()
statuses = do
  (r, w) <- createPipe
  _ <- fill w
  (r2, _) <- createPipe
  others <- inTransactions r2 (return ())
  ts <- (++ others) <$> sequence
    [ spawn (threadDelay 100000000), spawn (threadWaitRead r2), spawn (threadWaitWrite w)
    , spawn (void (timeout 100000000 (threadWaitRead r2))), spawn (void (timeout 100000000 (threadDelay 100000000)))
    ]
  threadDelay 5000
  mapM_ (threadStatus . fst >=> print) ts
  mapM_ (killThread . fst) ts
  mapM_ (report "killed") ts
  mapM_ (threadStatus . fst >=> print) ts
  print (r /= w)

-- The main thread ends while others wait for time, descriptors and transactions: the program ends at once, and none
-- of them goes on.
mainEnds :: IO ()
mainEnds = do
  (r, w) <- createPipe
  _ <- fill w
  (r2, _) <- createPipe
  _ <- installHandler sigUSR1 (Catch (putStrLn "a handler")) Nothing
  let odd' = putStrLn "goes on"
  replicateM_ 3 (spawn (threadWaitRead r2 >> odd'))
  replicateM_ 3 (spawn (threadWaitWrite w >> odd'))
  replicateM_ 3 (spawn (threadDelay 100000000 >> odd'))
  replicateM_ 3 (spawn (timeout 100000000 (threadWaitRead r2) >> odd'))
  _ <- inTransactions r2 odd'
  when rtsSupportsBoundThreads $ do
    (wait, _) <- threadWaitReadSTM r2
    void (spawn (uninterruptibleMask_ (atomically wait) >> odd'))
  putStrLn "the end" `finally` exitWith (ExitFailure 3)

-- Waits beside a good one, which is answered as usual.
with :: String -> IO a -> IO ()
with what act = do
  r <- try (timeout 50000 (void act)) :: IO (Either IOException (Maybe ()))
  putStrLn (what ++ ": " ++ either show (maybe "waits" (const "returns")) r)

-- Waits on what cannot be polled: files, /dev/null and, with OS threads, numbers that are not open; the manager is as
-- good as before.
unpollable :: IO ()
unpollable = do
  dir <- getTemporaryDirectory
  (path, h) <- openTempFile dir "events"
  hPutStr h "contents" >> hClose h
  file <- openFd path ReadWrite Nothing defaultFileFlags
  null' <- openFd "/dev/null" ReadWrite Nothing defaultFileFlags
  (r, w) <- createPipe
  good <- spawn (threadWaitRead r)
  let numbers = if rtsSupportsBoundThreads then [("9999", 9999), ("-1", -1)] else []
  forM_ ([("file", file), ("/dev/null", null')] ++ numbers) $ \(name, fd) -> do
    with ("read " ++ name) (threadWaitRead fd)
    with ("write " ++ name) (threadWaitWrite fd)
    when rtsSupportsBoundThreads $ do
      with ("read " ++ name ++ ", STM") (threadWaitReadSTM fd)
      with ("write " ++ name ++ ", STM") (threadWaitWriteSTM fd)
  fdRead file 4 >>= print
  -- A descriptor of that number that can be polled.
  closeFd null'
  (r2, w2) <- createPipe
  print (r2 == null' || w2 == null')
  again <- spawn (threadWaitRead r2)
  _ <- fdWrite w2 "x"
  report "pipe" again
  _ <- fdWrite w "x"
  report "good" good
  -- Handles of files use no waits.
  readFile path >>= putStrLn
  withFile "/dev/null" ReadMode hIsEOF >>= print
  removeFile path
