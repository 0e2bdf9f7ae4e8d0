-- args: +RTS -G20 -A64k -T -RTS
-- More generations than the heap is divided into: the oldest goes by the number of the oldest that was asked for, and
-- what is old and changes stays right.
import Control.Monad
import Data.IORef
import qualified Data.Map.Strict as M
import GHC.RTS.Flags (generations, getGCFlags)
import GHC.Stats
import System.Mem

main :: IO ()
main = do
  print . generations =<< getGCFlags
  table <- newIORef M.empty
  cells <- forM [1 .. 50 :: Int] (newIORef . pure)
  forM_ [1 .. 8000 :: Int] $ \i -> do
    modifyIORef' table (M.insertWith (++) (i `mod` 1000) [i])
    modifyIORef (cells !! (i `mod` 50)) (take 20 . (i :))
    when (i `mod` 1000 == 0) performMinorGC
  performMajorGC
  print . gcdetails_gen . gc =<< getRTSStats
  performMinorGC
  print . gcdetails_gen . gc =<< getRTSStats
  print . M.foldl' (\n xs -> n + sum xs) 0 =<< readIORef table
  print . sum . concat =<< mapM readIORef cells
