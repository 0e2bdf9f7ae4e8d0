-- Threads that compute all the time keep others waiting for a while only: a new thread, one that was woken,
-- one that has run for moments until now, threads that hand each other an MVar all the time, and those that a server makes.
-- And those that run for some milliseconds at a time leave one that computes its share of a HEC, and do not wait for those either.
-- Among themselves they are done in the order in which they began: those that come later, a few at a time, keep nobody waiting.
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

-- How much of that is done in so many milliseconds.
calibrate :: Double -> (Int -> Int -> Int) -> IO Int
calibrate ms work = go 1000
  where
    go n = do
      begin <- getMonotonicTime
      _ <- evaluate (work 0 n)
      end <- getMonotonicTime
      let part = ms / ((end - begin) * 1000)
      if part > 1 then go (2 * n) else return (round (part * fromIntegral n))

build :: Int -> Int -> Int
build seed n = sum (map (length . show) [seed .. seed + n])

-- Builds something and pauses, again and again: how long that takes each time but for the four slowest, at most, in milliseconds.
frames :: Int -> Int -> IO Double
frames n count = do
  took <- forM [1 .. count] $ \i -> do
    begin <- getMonotonicTime
    _ <- evaluate (build i n)
    threadDelay 5000
    end <- getMonotonicTime
    return ((end - begin) * 1000)
  return (sortBy (flip compare) took !! 4)

square :: Int -> Int -> Int
square seed n = length (show (foldl' (\a i -> (a * a + i) `mod` (10 ^ (40 :: Int))) 1 [toInteger seed .. toInteger (seed + n)]))

-- So many that compute wait for a gate, and each one that is done lets the next one in. How many of them are done before the last one that
-- began earlier, with twice as much to do?
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
  n <- calibrate 10 build
  took <- newEmptyMVar
  busy 4 (inNewThread (frames n 70 >>= putMVar took))
  most <- takeMVar took
  putStrLn (if most < 200 then "one that draws" else "one that draws takes " ++ show most ++ " ms")
  percent <- share
  putStrLn (if percent > 3 then "a fair share" else show percent ++ "%")
  m <- calibrate 70 square
  before <- order m 10 80
  putStrLn (if before < 60 then "first come, first done" else show before ++ " were done before")
