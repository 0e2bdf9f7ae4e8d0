-- Threads that compute all the time keep others waiting for a while only: a new thread, one that was woken, one that
-- has run for moments until now, and one beside threads that hand each other an MVar all the time. And those that run
-- for some milliseconds at a time leave one that computes its share of a HEC. Among themselves they are done in the
-- order in which they began: those that come later, a few at a time, keep nobody waiting.
-- ghc: -O -rtsopts
-- timeout: 180
-- skip-stress: what its threads compute between two moments takes minutes
-- skip-order: it is about the order
-- skip-package: it is about the order of the built-in scheduler
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import System.CPUTime

-- Computes, allocating, until told to stop.
spin :: IORef Bool -> IO ()
spin stop = go (0 :: Integer)
  where
    go n = do
      stopped <- readIORef stop
      unless stopped (n `seq` go (n + 1))

busy :: Int -> IO () -> IO ()
busy n act = do
  stop <- newIORef False
  ended <- newEmptyMVar
  replicateM_ n (forkIO (spin stop >> putMVar ended ()))
  act
  writeIORef stop True
  replicateM_ n (takeMVar ended)

inNewThread :: IO () -> IO ()
inNewThread act = do
  done <- newEmptyMVar
  _ <- forkIO (act >> putMVar done ())
  takeMVar done

-- Blocks and is woken by another thread, so often.
handOver :: Int -> IO ()
handOver n = do
  (there, back) <- (,) <$> newEmptyMVar <*> newEmptyMVar
  _ <- forkIO (replicateM_ n (takeMVar there >>= putMVar back))
  forM_ [1 .. n] $ \i -> do
    putMVar there i
    j <- takeMVar back
    when (i /= j) (putStrLn "another one")

burn :: Int -> Int
burn n = foldl' (\a i -> (a * 31 + i) `mod` 1000003) 1 [1 .. 30000 + n `mod` 2]

-- Beside thirty pairs of threads that hand each other work: the part that one does which computes, in percent.
share :: IO Int
share = do
  [alone, together] <- replicateM 2 (newIORef 0)
  stop <- newIORef False
  ended <- newEmptyMVar
  let going act = readIORef stop >>= \s -> unless s act
      work c n = evaluate (burn n) >> modifyIORef' c (+ 1)
      compute n = going (work alone n >> compute (n + 1))
  _ <- forkIO (compute 0 >> putMVar ended ())
  replicateM_ 30 $ do
    [there, back] <- replicateM 2 newEmptyMVar
    _ <- forkIO (forM_ [0 ..] (\n -> takeMVar there >> work together n >> putMVar back ()))
    forkIO (let go n = going (putMVar there () >> work together n >> takeMVar back >> go (n + 1)) in go 0 >> putMVar ended ())
  let measured = do
        counts <- mapM readIORef [alone, together]
        if sum counts >= 4000 then return counts else threadDelay 10000 >> measured
  [a, t] <- measured
  writeIORef stop True
  replicateM_ 31 (takeMVar ended)
  return (100 * a `div` (a + t))

-- How much of that is done in the given number of milliseconds of CPU time.
calibrate :: Double -> (Int -> Int -> Int) -> IO Int
calibrate ms work = go 1000
  where
    go n = do
      begin <- getCPUTime
      _ <- evaluate (work 0 n)
      end <- getCPUTime
      let part = ms / (fromIntegral (end - begin) / 1e9)
      if part > 1 then go (2 * n) else return (round (part * fromIntegral n))

square :: Int -> Int -> Int
square seed n = length (show (foldl' (\a i -> (a * a + i) `mod` (10 ^ (40 :: Int))) 1 [toInteger seed .. toInteger (seed + n)]))

-- CPU-bound threads wait for a gate, and each one that is done lets the next one in. How many of them are done
-- before the last one that began earlier, with twice as much to do?
order :: Int -> Int -> Int -> IO Int
order n earlier later = do
  gate <- newQSem 0
  ended <- newEmptyMVar
  (isDone, seen) <- (,) <$> newIORef 0 <*> newIORef 0
  forM_ [1 .. later] $ \i -> forkIO $ do
    waitQSem gate
    _ <- evaluate (square i n)
    modifyIORef' isDone (+ 1)
    signalQSem gate
    putMVar ended ()
  forM_ [1 .. earlier] $ \i -> forkIO $ do
    _ <- evaluate (square (-i) (2 * n))
    readIORef isDone >>= writeIORef seen
    putMVar ended ()
  threadDelay 200000
  replicateM_ 2 (signalQSem gate)
  replicateM_ (earlier + later) (takeMVar ended)
  readIORef seen

main :: IO ()
main = do
  busy 4 (inNewThread (return ()))
  putStrLn "a new thread"
  busy 4 (threadDelay 1000)
  putStrLn "one that slept"
  handOver 100
  busy 4 (handOver 3)
  putStrLn "one that ran for moments"
  -- Threads that do nothing but wake each other are not alone either.
  over <- newIORef False
  ended <- newEmptyMVar
  replicateM_ 5 $ forkIO $ do
    let chat = readIORef over >>= \o -> unless o (handOver 10 >> chat)
    chat
    putMVar ended ()
  busy 4 (inNewThread (threadDelay 1000))
  writeIORef over True
  replicateM_ 5 (takeMVar ended)
  putStrLn "one among chatterers"
  -- (With more HECs than cores it shares its core with another HEC, too.)
  setNumCapabilities 1
  percent <- share
  putStrLn (if percent > 3 then "a fair share" else show percent ++ "%")
  m <- calibrate 70 square
  before <- order m 10 80
  putStrLn (if before < 60 then "first come, first done" else show before ++ " were done before")
