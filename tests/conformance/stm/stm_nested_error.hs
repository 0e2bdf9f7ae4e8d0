-- atomically within atomically through unsafePerformIO is refused with its own exception, and the outer state recovers.
import Control.Concurrent.STM
import Control.Exception
import System.IO.Unsafe

main :: IO ()
main = do
  tv <- newTVarIO (0 :: Int)
  let inner = unsafePerformIO (atomically (modifyTVar tv (+ 1) >> readTVar tv))
      {-# NOINLINE inner #-}
  r <- try (atomically (readTVar tv >>= \x -> writeTVar tv $! x + inner)) :: IO (Either SomeException ())
  putStrLn (either (\e -> "refused: " ++ takeWhile (/= '\n') (show e)) (const "accepted") r)
  atomically (writeTVar tv 5)
  readTVarIO tv >>= print
