-- Waits and delays on each HEC, while HECs come and go, one is stuck in an unsafe call, or threads are in safe ones.
-- ghc: -O -threaded -with-rtsopts=-N2
-- skip-order: it needs two HECs
-- skip-kinds: -N2 -N4; it takes HECs away, and a scheduler of the package keeps those that it has
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.IORef
import Foreign.C
import System.Posix.IO
import System.Timeout
import Waits

foreign import ccall safe "usleep" sleepSafe :: CUInt -> IO CInt
foreign import ccall unsafe "usleep" sleepUnsafe :: CUInt -> IO CInt

main :: IO ()
main = do
  -- Waits on each of four.
  setNumCapabilities 4
  (r, w) <- createPipe
  ts <- forM [0 .. 7] (\n -> spawnBy (forkOn n) (threadWaitRead r >> fst <$> (threadCapability =<< myThreadId)))
  never <- newEmptyMVar :: IO (MVar ())
  ds <- forM [0 .. 7] (\n -> spawnBy (forkOn n) (threadDelay 30000 >> timeout 1000 (takeMVar never)))
  -- Fewer and more, with all of them pending: none is lost.
  forM_ [2, 1, 3, 4, 1, 2] (\n -> setNumCapabilities n >> threadDelay 1000)
  _ <- fdWrite w "x"
  mapM_ (\t -> outcome t >>= \s -> unless (all (`elem` ['0' .. '9']) s) (putStrLn s)) ts
  mapM_ (report "delay") ds
  _ <- fdRead r 1
  -- Registered on one HEC, closed, killed or answered from another.
  forM_ [1 .. 20 :: Int] $ \i -> do
    (p, q) <- createPipe
    [a, b] <- forM [0, 1] (\n -> spawnBy (forkOn n) (threadWaitRead p))
    done <- newEmptyMVar
    _ <- forkOn i (killThread (fst a) >> (if even i then closeNow p else void (fdWrite q "x")) >> putMVar done ())
    takeMVar done
    x <- outcome a
    y <- outcome b
    -- The stock runtime has another message if the wait is registered only then.
    let closed = ["raised " ++ f ++ ": invalid argument (Bad file descriptor)" | f <- ["threadWait", "modifyFdOnce"]]
    when (x /= "raised thread killed" || y `notElem` (if even i then closed else ["()"])) (print (i, x, y))
    unless (even i) (closeNow p)
    closeNow q
  -- An unsafe call on one HEC; threads on the other have timers and descriptors.
  setNumCapabilities 2
  log' <- newIORef []
  let note s = atomicModifyIORef' log' (\l -> (s : l, ()))
  stuck <- newEmptyMVar
  _ <- forkOn 1 (sleepUnsafe 60000 >> note "the call has ended" >> putMVar stuck ())
  others <- forM [1 .. 3 :: Int] $ \i -> do
    v <- newEmptyMVar
    _ <- forkOn 0 (threadDelay (i * 1000) >> note "delay" >> putMVar v ())
    return v
  reader <- newEmptyMVar
  _ <- forkOn 0 (threadWaitRead r >> note "read" >> putMVar reader ())
  _ <- forkOn 0 (threadDelay 2000 >> void (fdWrite w "x"))
  mapM_ takeMVar (reader : others)
  takeMVar stuck
  _ <- fdRead r 1
  readIORef log' >>= print . length
  -- Safe calls on both.
  calls <- forM [0, 1] $ \n -> do
    v <- newEmptyMVar
    _ <- forkOn n (sleepSafe 150000 >> note "safe" >> putMVar v ())
    return v
  ws <- forM [0, 1] $ \n ->
    spawnBy (forkOn n) (threadDelay 1000 >> threadWaitRead r >> timeout 500 (threadDelay 100000))
  _ <- fdWrite w "x"
  mapM_ (report "beside calls") ws
  note "all"
  mapM_ takeMVar calls
  readIORef log' >>= print . reverse . take 3
  v <- registerDelay 1000
  atomically (readTVar v >>= check)
