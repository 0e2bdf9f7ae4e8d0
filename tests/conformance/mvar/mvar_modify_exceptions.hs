-- modifyMVar and withMVar put the old value back when the action raises, synchronously or by killThread.
import Control.Concurrent
import Control.Exception

main :: IO ()
main = do
  m <- newMVar (1 :: Int)
  r <- try (modifyMVar_ m (\_ -> throwIO (userError "no"))) :: IO (Either IOException ())
  print r
  readMVar m >>= print
  r2 <- try (modifyMVar m (\x -> evaluate (x `div` 0) >>= \y -> return (y, y))) :: IO (Either ArithException Int)
  print r2
  readMVar m >>= print
  started <- newEmptyMVar
  ended <- newEmptyMVar
  t <- forkFinally (withMVar m (\_ -> putMVar started () >> threadDelay 100000000)) (putMVar ended . either show (const "returned"))
  takeMVar started
  e <- isEmptyMVar m
  killThread t
  takeMVar ended >>= putStrLn
  v <- tryReadMVar m
  print (e, v)
