-- async: concurrently, race, cancellation, links, waiting for any, mapConcurrently and exceptions.
-- needs: async
import Control.Concurrent
import Control.Concurrent.Async
import Control.Exception
import Data.IORef

main :: IO ()
main = do
  concurrently (return (1 :: Int)) (threadDelay 1000 >> return 'b') >>= print
  race (threadDelay 100000000 >> return 'x') (return "fast") >>= print
  mapConcurrently (\n -> threadDelay (1000 * (20 - n)) >> return (n * n)) [1 .. 20 :: Int] >>= print
  forConcurrently_ [1 .. 200 :: Int] (\_ -> yield)
  a <- async (threadDelay 100000000 `finally` return ())
  cancel a
  waitCatch a >>= putStrLn . either show (const "finished")
  b <- async (evaluate (1 `div` (0 :: Int)))
  waitCatch b >>= either print print
  r <- try (concurrently_ (throwIO (userError "left")) (threadDelay 100000000)) :: IO (Either IOException ())
  print r
  slow <- async (threadDelay 100000000 >> return 'z')
  quick <- async (threadDelay 1000 >> return 'q')
  (_, v) <- waitAny [slow, quick]
  print v
  cancel slow
  n <- newIORef (0 :: Int)
  withAsync (mapM_ (\_ -> modifyIORef' n (+ 1) >> yield) [1 .. 100000000 :: Int]) (\_ -> threadDelay 5000)
  readIORef n >>= print . (> 0)
  x <- try (withAsync (threadDelay 1000 >> throwIO (userError "linked")) (\l -> link l >> threadDelay 100000000)) :: IO (Either ExceptionInLinkedThread ())
  putStrLn (either (const "link fired") (const "no") x)
  runConcurrently ((,) <$> Concurrently (return 'l') <*> Concurrently (return 'r')) >>= print
  poll slow >>= putStrLn . maybe "running" (either (const "cancelled") show)
