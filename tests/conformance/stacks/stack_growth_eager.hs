-- A deep recursion grows its stack below an old thunk that compiled code has claimed, while another thread has all
-- collect.
-- ghc: -O -threaded -feager-blackholing
-- args: +RTS -N2 -A16k -G3 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Mem

-- Not tail recursive: each element takes a frame.
deep :: [Int] -> Int
deep [] = 0
deep (x : xs) = x + deep xs
{-# NOINLINE deep #-}

sumsOf :: Int -> [Int]
sumsOf round = [deep [n .. n + 3000] | n <- [round .. round + 5]]
{-# NOINLINE sumsOf #-}

allocate :: MVar () -> Int -> IO ()
allocate end n = do
  _ <- evaluate (length (show (product [1 .. fromIntegral n :: Integer])))
  done <- isEmptyMVar end
  when done (allocate end (n `mod` 60 + 1))

main :: IO ()
main = do
  end <- newEmptyMVar
  allocator <- newEmptyMVar
  _ <- forkIO (allocate end 1 >> putMVar allocator ())
  totals <- forM [1 .. 100] $ \round -> do
    let sums = sumsOf round
    -- The thunks of the elements become old.
    _ <- evaluate (length sums)
    performMinorGC >> performMinorGC >> performMinorGC
    -- Each by a young thread.
    total <- newEmptyMVar
    forM_ sums $ \s -> forkIO (evaluate s >>= putMVar total)
    sum <$> replicateM (length sums) (takeMVar total)
  putMVar end ()
  takeMVar allocator
  print (sum totals)
