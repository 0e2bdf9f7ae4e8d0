-- A bound thread that is killed while it waits for its turn: the call that made it returns.
import Control.Concurrent
import Control.Exception
import Control.Monad

main :: IO ()
main = do
  done <- newEmptyMVar
  ids <- forM [1 .. 20 :: Int] $ \i -> do
    ready <- newEmptyMVar
    t <- forkOS ((putMVar ready () >> forever yield) `catch` \e -> putMVar done (i, show (e :: AsyncException)))
    takeMVar ready
    return t
  mapM_ killThread ids
  rs <- replicateM 20 (takeMVar done)
  print (length rs, all ((== "thread killed") . snd) rs)
  -- Without a handler of its own.
  quiet <- replicateM 20 (forkOS (forever yield))
  mapM_ killThread quiet
  r <- runInBoundThread (return "still here")
  putStrLn r
