-- Old mutable objects that are pointed at young data, over many minor collections.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.IORef
import Data.Array.IO
import System.Mem
import System.Mem.StableName ()

churn :: Int -> Int
churn n = length (show (product [1 .. fromIntegral n :: Integer]))

main :: IO ()
main = do
  ref <- newIORef []
  mv <- newMVar []
  tv <- newTVarIO []
  arr <- newArray (0, 9999) [] :: IO (IOArray Int [Int])
  performMajorGC
  performMajorGC
  forM_ [1 .. 300 :: Int] $ \i -> do
    modifyIORef ref (i :)
    modifyMVar_ mv (return . (i :))
    atomically (modifyTVar tv (i :))
    forM_ [0, 37 .. 9999] $ \j -> when ((i + j) `mod` 11 == 0) (writeArray arr j [i, j])
    when (churn (20 + i `mod` 10) < 0) (putStrLn "never")
    when (i `mod` 10 == 0) performMinorGC
    when (i `mod` 100 == 0) performMajorGC
  readIORef ref >>= print . sum
  readMVar mv >>= print . sum
  readTVarIO tv >>= print . sum
  es <- getElems arr
  print (sum (map sum es), length (filter null es))
