-- Threads tied to each HEC wait for one another's bytes, and go on where they are tied to.
-- ghc: -O -threaded -with-rtsopts=-N4
-- skip-package: a scheduler of the package decides where threads run
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import System.Posix.IO
import System.Timeout
import Waits

main :: IO ()
main = do
  n <- getNumCapabilities
  pipes <- replicateM 8 createPipe
  let next i = (i + 1) `mod` 8
  ends <- forM [0 .. 7] $ \i -> do
    v <- newEmptyMVar
    _ <- forkOn i $ do
      homes <- forM [1 .. 50 :: Int] $ \k -> do
        threadWaitRead (fst (pipes !! i))
        _ <- fdRead (fst (pipes !! i)) 1
        when (k `mod` 10 == 0) (threadDelay 100)
        _ <- fdWrite (snd (pipes !! next i)) "t"
        (home, tied) <- threadCapability =<< myThreadId
        return (home == i `mod` n && tied)
      putMVar v (and homes)
    return v
  _ <- fdWrite (snd (head pipes)) "t"
  mapM takeMVar ends >>= print
  -- One descriptor, waited for on every HEC at once.
  (r, w) <- createPipe
  ts <- forM [0 .. 7] $ \i -> spawnBy (forkOn i) (threadWaitRead r >> threadDelay 1000)
  _ <- fdWrite w "!"
  mapM outcome ts >>= print
  -- Delays, their STM form and limits on every HEC.
  ds <- forM [0 .. 7] $ \i -> spawnBy (forkOn i) $ do
    threadDelay (1000 * i)
    due <- registerDelay 2000
    atomically (readTVar due >>= check)
    timeout 2000 (threadDelay 100000000)
  mapM outcome ds >>= print
