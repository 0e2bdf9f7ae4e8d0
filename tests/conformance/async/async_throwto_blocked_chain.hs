-- A thread blocked in throwTo can itself be interrupted, and its exception is then withdrawn.
-- skip-kinds: Lifo; it yields to let others wait, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Exception
import Control.Monad

main :: IO ()
main = do
  gate <- newEmptyMVar
  ready <- newEmptyMVar
  out <- newEmptyMVar
  target <- mask_ $ forkIO $ do
    putMVar ready ()
    uninterruptibleMask_ (takeMVar gate)
    r <- try (interruptible (replicateM_ 10 yield))
    putMVar out (either (\e -> "got " ++ show (e :: ErrorCall)) (const "nothing") r)
  takeMVar ready
  thrower <- forkIO ((throwTo target (ErrorCall "withdrawn") >> putMVar out "sent") `catch` \e -> putMVar out ("thrower: " ++ show (e :: AsyncException)))
  replicateM_ 5 yield
  killThread thrower
  takeMVar out >>= putStrLn
  putMVar gate ()
  takeMVar out >>= putStrLn
