-- throw, catch, handle, try, evaluate, finally, onException and bracket, in IO.
{-# LANGUAGE ScopedTypeVariables #-}
import Control.Exception
import System.IO.Error

data Mine = Mine Int deriving Show
instance Exception Mine

main :: IO ()
main = do
  r <- try (throwIO (Mine 1)) :: IO (Either Mine ())
  print r
  r2 <- try (evaluate (length [1, undefined, 3 :: Int]))
  either (\(e :: SomeException) -> putStrLn "bad") print r2
  handle (\(Mine n) -> print n) (throw (Mine 2) >> putStrLn "unreached")
  (putStrLn "body" `finally` putStrLn "finally") `catch` \(e :: SomeException) -> print "no"
  (throwIO (Mine 3) `onException` putStrLn "onException") `catch` \(Mine n) -> print n
  x <- bracket (putStrLn "acquire" >> return 5) (\_ -> putStrLn "release") (\n -> return (n + 1 :: Int))
  print x
  r3 <- try (bracket_ (putStrLn "in") (putStrLn "out") (throwIO (Mine 4)))
  print (r3 :: Either Mine ())
  r4 <- try (ioError (userError "boom"))
  either (\e -> putStrLn (ioeGetErrorString e)) return r4
  r5 <- tryJust (\e -> if e == DivideByZero then Just "div" else Nothing) (evaluate (1 `div` (0 :: Int)))
  print r5
  r6 <- try (evaluate (head [])) :: IO (Either ErrorCall Int)
  print r6
  catches (throwIO (Mine 9)) [Handler (\(_ :: ArithException) -> print "a"), Handler (\(Mine n) -> print (n * 2))]
