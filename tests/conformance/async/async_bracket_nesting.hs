-- Nested brackets unwound by killThread release in the reverse order, also when a release takes time or raises.
import Control.Concurrent
import Control.Exception
import Data.IORef

main :: IO ()
main = do
  r <- newIORef []
  let say s = atomicModifyIORef' r (\l -> (s : l, ()))
  ready <- newEmptyMVar
  done <- newEmptyMVar
  t <- forkFinally
    (bracket (say "a+") (\_ -> say "a-") $ \_ ->
       bracket (say "b+") (\_ -> threadDelay 5000 >> say "b- after a delay") $ \_ ->
         (bracket (say "c+") (\_ -> say "c-" >> throwIO (userError "release failed")) $ \_ ->
            (putMVar ready () >> threadDelay 100000000) `onException` say "innermost"))
    (\e -> say (either (\x -> "ended with " ++ show x) (const "returned") e) >> putMVar done ())
  takeMVar ready
  killThread t
  takeMVar done
  readIORef r >>= mapM_ putStrLn . reverse
  -- bracketOnError and finally with a value.
  x <- bracketOnError (return 1) (\_ -> putStrLn "not run") (\n -> return (n + 1 :: Int))
  print x
  y <- try (bracketOnError (return 1) (\_ -> putStrLn "run") (\n -> evaluate (n `div` (0 :: Int)))) :: IO (Either ArithException Int)
  print y
