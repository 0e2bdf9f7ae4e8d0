-- A thread that makes safe foreign calls that return at once, beside one that computes, on one HEC: how long all of its
-- calls take.
-- aim: elapsed 0.5
-- args: 2000000
import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign.C.Types
import System.Environment

foreign import ccall safe "abs" absolute :: CInt -> IO CInt

-- | For ever, allocating as it goes.
compute :: Integer -> IO ()
compute n = evaluate (sum [n .. n + 100]) >> compute (n + 1)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  _ <- forkIO (compute 1)
  results <- newEmptyMVar
  let call s i = do
        a <- absolute (-i)
        return $! (s + fromIntegral a) `mod` 1000003
  _ <- forkIO (foldM call (0 :: Int) [1 .. n] >>= putMVar results)
  takeMVar results >>= print
