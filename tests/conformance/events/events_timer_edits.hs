-- Many threads register, update and cancel timers of base's manager at the same time, on four HECs: each timer fires
-- once, or not at all if it was cancelled in time.
-- ghc: -O -threaded -with-rtsopts=-N4
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import GHC.Event

-- What becomes of a timer.
data End = Fires | MayFire | NeverFires
  deriving Eq

-- Uses a timer in the i-th way.
use :: TimerManager -> Int -> IO () -> IO End
use m i act = case i `mod` 8 of
  0 -> register near >> return Fires
  -- Later, sooner, at the same time, and perhaps after it has fired.
  1 -> register near >>= \k -> updateTimeout m k (near + 2000) >> return Fires
  2 -> register far >>= \k -> updateTimeout m k near >> return Fires
  3 -> register near >>= \k -> replicateM_ 5 (updateTimeout m k near) >> return Fires
  4 -> register 0 >>= \k -> updateTimeout m k far >> unregisterTimeout m k >> return Fires
  -- Cancelled, in time or perhaps not.
  5 -> register far >>= \k -> unregisterTimeout m k >> return NeverFires
  6 -> do
    k <- register far
    updateTimeout m k (far + near)
    yield
    replicateM_ 2 (unregisterTimeout m k)
    return NeverFires
  _ -> register (near `div` 10) >>= \k -> yield >> unregisterTimeout m k >> return MayFire
  where
    near = i * 37 `mod` 3000 + 1
    far = 1000000000
    register us = registerTimeout m us act

main :: IO ()
main = do
  m <- getSystemTimerManager
  done <- forM [0 .. 31 :: Int] $ \t -> do
    v <- newEmptyMVar
    _ <- forkOn t $ do
      timers <- forM [0 .. 199] $ \i -> do
        fired <- newTVarIO (0 :: Int)
        end <- use m (7 * t + i) (atomically (modifyTVar' fired (+ 1)))
        return (end, fired)
      putMVar v timers
    return v
  timers <- concat <$> mapM takeMVar done
  let counts end = mapM readTVarIO [fired | (e, fired) <- timers, e == end]
  forM_ timers $ \(end, fired) -> when (end == Fires) (atomically (readTVar fired >>= check . (> 0)))
  -- A timer that fires twice would do it soon.
  threadDelay 20000
  counts Fires >>= print . all (== 1)
  counts MayFire >>= print . all (<= 1)
  counts NeverFires >>= print . all (== 0)
