-- Prime numbers by a chain of threads: each passes on what its prime does not divide. Argument: how many primes.
-- ghc: -O
-- needs: hecaton
import Control.Monad
import System.Environment
import Threads

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  prime <- withThreads $ \fork -> do
    numbers <- newEmptyMVar
    fork (mapM_ (putMVar numbers) [2 ..])
    sieve fork n numbers
  print prime

-- | The last of this many primes.
sieve :: Fork -> Int -> MVar Int -> IO Int
sieve fork n numbers = do
  prime <- takeMVar numbers
  if n == 1
    then return prime
    else do
      others <- newEmptyMVar
      fork . forever $ do
        x <- takeMVar numbers
        when (x `mod` prime /= 0) (putMVar others x)
      sieve fork (n - 1) others
