-- Top-level constants: evaluated once, shared by everyone, usable after being dropped and collected.
import System.Mem
import Data.IORef
import Control.Exception
import System.IO.Unsafe

evals :: IORef Int
evals = unsafePerformIO (newIORef 0)
{-# NOINLINE evals #-}

table :: [Int]
table = unsafePerformIO (modifyIORef evals (+ 1) >> return (map (^ (2 :: Int)) [1 .. 5000]))
{-# NOINLINE table #-}

mutualA, mutualB :: [Int]
mutualA = 1 : map (+ 1) mutualB
mutualB = 2 : map (* 2) mutualA
{-# NOINLINE mutualA #-}
{-# NOINLINE mutualB #-}

bad :: Int
bad = unsafePerformIO (modifyIORef evals (+ 10)) `seq` error "bad constant"
{-# NOINLINE bad #-}

bigString :: String
bigString = concatMap show [1 .. 2000 :: Int]
{-# NOINLINE bigString #-}

main :: IO ()
main = do
  print (sum table)
  performGC
  print (length table, last table)
  readIORef evals >>= print
  print (take 10 mutualA, take 10 mutualB)
  r <- try (evaluate bad)
  putStrLn (either (\(ErrorCall m) -> m) show r)
  performGC
  r' <- try (evaluate (bad + 1))
  putStrLn (either (\(ErrorCall m) -> m) show r')
  readIORef evals >>= \n -> print (n >= 11)
  print (length bigString)
  performMajorGC
  print (length bigString, take 12 bigString)
