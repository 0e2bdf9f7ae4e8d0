-- Thunks claimed eagerly by compiled code, old ones too: waiters, loops, and collections while they are under
-- evaluation.
-- ghc: -O -threaded -feager-blackholing
-- args: +RTS -I0.02 -RTS
import Control.Concurrent
import Control.Exception
import System.IO.Unsafe
import System.Mem

count :: Int -> Int
count n = go 0 [1 .. n]
  where
    go acc [] = acc
    go acc (x : xs) = go (acc + x `mod` 3) xs
{-# NOINLINE count #-}

main :: IO ()
main = do
  -- Old thunks that refer to young threads while they are evaluated.
  let olds = [unsafePerformIO (performMinorGC >> return (count (n * 1000))) + count (n * 5000) | n <- [1 .. 20]] :: [Int]
  print (length (map (`seq` ()) (replicate 1 (length olds))))
  performGC
  performGC
  dones <- mapM (\x -> do
    done <- newEmptyMVar
    _ <- forkIO (evaluate x >>= putMVar done)
    _ <- forkIO (evaluate x >>= putMVar done)
    return done) olds
  rs <- mapM (\d -> (+) <$> takeMVar d <*> takeMVar d) dones
  print (sum rs)
  let x = x + count 10 :: Int
  r <- try (evaluate x)
  print (either (\e -> show (e :: NonTermination)) show r)
  -- Deep evaluation under eager claims, in many chunks.
  print (foldr (\a b -> a + b) 0 (map count [1 .. 2000]))
