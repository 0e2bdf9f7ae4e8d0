-- The allocation counter counts down, and the limit raises AllocationLimitExceeded in its own thread only.
import Control.Concurrent
import Control.Exception
import System.Mem

burn :: Int -> IO Int
burn n = evaluate (length (show (product [1 .. fromIntegral n :: Integer])))

main :: IO ()
main = do
  setAllocationCounter 0
  _ <- burn 500
  c <- getAllocationCounter
  print (c < 0)
  _ <- burn 500
  c2 <- getAllocationCounter
  print (c2 < c)
  out <- newEmptyMVar
  _ <- forkIO $ do
    setAllocationCounter (1024 * 1024)
    enableAllocationLimit
    r <- try (burn 5000)
    case r of
      Left AllocationLimitExceeded -> putMVar out "limit exceeded"
      Right n -> putMVar out (show n)
  takeMVar out >>= putStrLn
  _ <- forkIO $ do
    setAllocationCounter (1024 * 1024)
    enableAllocationLimit
    disableAllocationLimit
    r <- try (burn 2000)
    putMVar out (either (\e -> show (e :: SomeException)) show r)
  takeMVar out >>= putStrLn
  burn 1000 >>= print
