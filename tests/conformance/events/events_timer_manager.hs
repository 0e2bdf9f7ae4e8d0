-- GHC.Event's timers: order, cancelled, moved sooner and later, registered and cancelled by callbacks, used up.
import Control.Concurrent
import Control.Monad
import GHC.Clock
import GHC.Event

step :: Int
step = 20000

-- Does it again until it took so little time that the deadlines decide.
quickly :: IO (IO a) -> IO a
quickly act = do
  begin <- getMonotonicTime
  rest <- act
  end <- getMonotonicTime
  x <- rest
  if (end - begin) * 1000000 < fromIntegral step then return x else quickly act

main :: IO ()
main = do
  m <- getSystemTimerManager
  out <- newChan
  let at k = registerTimeout m (k * step) (writeChan out k)
      takes n = replicateM n (readChan out)
  -- At once.
  forM_ [0, -1, minBound, 1] $ \d -> registerTimeout m d (writeChan out d)
  takes 4 >>= print . (== 4) . length
  quickly (mapM_ at [4, 1, 3, 2] >> return (takes 4)) >>= print
  -- Cancelled ones never run; to cancel twice, or too late, is harmless.
  quickly (do
    ks <- mapM at [1, 2, 3, 4]
    mapM_ (unregisterTimeout m . (ks !!)) [0, 2, 0]
    return (takes 2 <* mapM_ (unregisterTimeout m) ks)) >>= print
  -- Moved later, sooner, to the end of the queue and back; to now; and used up or cancelled ones, which stay so.
  quickly (do
    [a, b, c, d] <- mapM at [1, 2, 3, 4]
    updateTimeout m a (5 * step)
    updateTimeout m d step
    updateTimeout m b (6 * step)
    updateTimeout m b (2 * step)
    unregisterTimeout m c
    updateTimeout m c step
    return (takes 3 <* mapM_ (\x -> updateTimeout m x 1) [a, b, c, d])) >>= print
  now <- registerTimeout m 100000000 (writeChan out 100)
  updateTimeout m now 0
  takes 1 >>= print
  far <- registerTimeout m maxBound (writeChan out 101)
  updateTimeout m far 0
  takes 1 >>= print
  -- A negative time is the end of time, here.
  never <- registerTimeout m 100000000 (writeChan out 102)
  updateTimeout m never (-5)
  -- Often reset, as servers do: it fires once, at the end.
  often <- registerTimeout m 100000000 (writeChan out 7)
  replicateM_ 1000 (updateTimeout m often 50000000)
  updateTimeout m often 1000
  takes 1 >>= print
  -- A callback that registers the next, moves another, and cancels itself and others.
  let chain :: Int -> IO ()
      chain 0 = writeChan out 0
      chain n = writeChan out n >> void (registerTimeout m 100 (chain (n - 1)))
  _ <- registerTimeout m 100 (chain 5)
  takes 6 >>= print
  self <- newEmptyMVar
  other <- registerTimeout m 100000000 (writeChan out 9)
  victim <- registerTimeout m 200000 (writeChan out 13)
  key <- registerTimeout m 1000 $ do
    takeMVar self >>= unregisterTimeout m
    unregisterTimeout m victim
    updateTimeout m other 1000
    writeChan out 8
  putMVar self key
  takes 2 >>= print
  threadDelay 300000
  -- Many at once, half of them cancelled.
  keys <- forM [1 .. 2000 :: Int] $ \i ->
    registerTimeout m (if even i then 10000 + 100 * (i `mod` 10) else 100000000) (writeChan out i)
  quick <- newEmptyMVar
  _ <- registerTimeout m 1000 (putMVar quick ())
  takeMVar quick
  forM_ (zip [1 :: Int ..] keys) $ \(i, k) -> when (odd i) (updateTimeout m k 200000000 >> unregisterTimeout m k)
  xs <- takes 1000
  print (all even xs, sum xs)
  -- Nothing else has come.
  writeChan out (-1)
  takes 1 >>= print
