-- Threads that compute all the time keep others waiting for a while only: a new thread, one that was woken,
-- one that has run for moments until now, threads that hand each other an MVar all the time, and those that a server makes.
-- And those that run for some milliseconds at a time leave one that computes its share of a HEC, and do not wait for those either.
-- ghc: -O -rtsopts
-- timeout: 60
-- skip-stress: what its threads compute between two moments takes minutes
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import GHC.Clock

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

-- A thread for each request: how long half of them wait at least before they run, in milliseconds.
serve :: Int -> IO Double
serve n = do
  waits <- newChan
  _ <- forkIO $ replicateM_ n $ do
    threadDelay 5000
    asked <- getMonotonicTime
    forkIO (getMonotonicTime >>= \now -> writeChan waits (now - asked))
  (!! (n `div` 2)) . sort . map (* 1000) <$> replicateM n (readChan waits)

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
  threadDelay 1000000
  [a, t] <- mapM readIORef [alone, together]
  writeIORef stop True
  replicateM_ 31 (takeMVar ended)
  return (100 * a `div` (a + t))

build :: Int -> Int -> Int
build seed n = sum (map (length . show) [seed .. seed + n])

-- How much of that is done in eight milliseconds.
calibrate :: Int -> IO Int
calibrate n = do
  begin <- getMonotonicTime
  _ <- evaluate (build 0 n)
  end <- getMonotonicTime
  if end - begin < 0.008 then calibrate (2 * n) else return n

-- Builds something and pauses, again and again: how much longer than it asked for half of the pauses are at least, in milliseconds.
frames :: Int -> Int -> IO Double
frames n count = do
  late <- forM [1 .. count] $ \i -> do
    _ <- evaluate (build i n)
    begin <- getMonotonicTime
    threadDelay 5000
    end <- getMonotonicTime
    return ((end - begin) * 1000 - 5)
  return (sort late !! (count `div` 2))

main :: IO ()
main = do
  busy 4 (inNewThread (return ()))
  putStrLn "a new thread"
  busy 4 (threadDelay 1000)
  putStrLn "one that slept"
  handOver 100
  busy 4 (handOver 3)
  putStrLn "one that ran for moments"
  -- Those who do nothing but wake each other are not alone either.
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
  wait <- newEmptyMVar
  busy 4 (serve 20 >>= putMVar wait)
  ms <- takeMVar wait
  putStrLn (if ms < 250 then "one that a server makes" else "one that a server makes waits for " ++ show ms ++ " ms")
  -- (With more HECs than cores it shares its core with another HEC, too.)
  setNumCapabilities 1
  n <- calibrate 1000
  late <- newEmptyMVar
  busy 4 (inNewThread (frames n 40 >>= putMVar late))
  lateBy <- takeMVar late
  putStrLn (if lateBy < 100 then "one that draws" else "one that draws waits for " ++ show lateBy ++ " ms")
  percent <- share
  putStrLn (if percent > 3 then "a fair share" else show percent ++ "%")
