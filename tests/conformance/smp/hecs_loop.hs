-- On several HECs: threads that wait for each other's thunks in a circle are told so, and one that waits for itself.
-- ghc: -O -threaded
-- args: +RTS -N4 -I0.02 -RTS
-- skip-order: its loops do not allocate
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Mem

spin :: Int -> Int
spin n = length (filter even [1 .. n])
{-# NOINLINE spin #-}

-- Each of n threads enters one of n thunks that need each other. (New ones each time: what the program still refers to
-- is not given up.)
circle :: Int -> Int -> IO [MVar String]
circle r n = do
  let xs = [if spin (2000 * (i + 1) + r) >= 0 then xs !! ((i + 1) `mod` n) + 1 else 0 | i <- [0 .. n - 1]] :: [Int]
  forM xs $ \x -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      r <- try (evaluate x)
      putMVar done (case r of Left NonTermination -> "loop"; Right _ -> "value")
    return done

{-# NOINLINE circle #-}

-- Nothing refers to the threads, so a collection finds them.
collect :: MVar String -> IO String
collect done = do
  r <- tryTakeMVar done
  case r of
    Just s -> return s
    Nothing -> performGC >> threadDelay 1000 >> collect done

main :: IO ()
main = forM_ [1, 2, 3, 5] $ \n -> do
  rounds <- forM [1 .. 5] (\r -> circle r n >>= mapM collect)
  print (n, rounds)
