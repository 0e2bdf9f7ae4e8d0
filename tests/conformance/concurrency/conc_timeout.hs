-- System.Timeout: expiry, completion, nesting, and a pure computation interrupted.
import System.Timeout
import Control.Concurrent
import Control.Exception

main :: IO ()
main = do
  timeout 10000 (threadDelay 100000000) >>= print
  timeout 100000000 (return 'x') >>= print
  timeout 0 (return ()) >>= print
  timeout (-1) (return "no limit") >>= print
  timeout 100000000 (timeout 10000 (threadDelay 100000000)) >>= print
  timeout 10000 (timeout 100000000 (threadDelay 100000000)) >>= print
  r <- timeout 20000 (evaluate (length (filter (> 0) (iterate (\x -> (x * 3 + 1) `mod` 1000003) (1 :: Int)))))
  print r
  r2 <- try (timeout 100000000 (throwIO (userError "inside"))) :: IO (Either IOException (Maybe ()))
  print r2
  m <- newEmptyMVar :: IO (MVar ())
  timeout 10000 (takeMVar m) >>= print
