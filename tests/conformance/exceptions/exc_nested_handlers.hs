-- Handlers inside handlers: which frame catches, in which order, and that frames are removed.
import Control.Exception
import Control.Monad

data E = E Int deriving (Show, Eq)
instance Exception E

main :: IO ()
main = do
  r <- try $ handle (\(E n) -> putStrLn ("outer " ++ show n) >> throwIO (E (n + 1))) $
         handle (\(E n) -> putStrLn ("inner " ++ show n) >> throwIO (E (n + 1))) $
           throwIO (E 1)
  print (r :: Either E ())
  -- A frame for another exception type lets it pass.
  handle (\(E n) -> putStrLn ("passed " ++ show n)) $
    handle (\e -> putStrLn ("not me: " ++ show (e :: ArithException))) $
      throwIO (E 10)
  -- 5000 nested frames, each rethrowing with one more.
  let deep :: Int -> IO ()
      deep 0 = throwIO (E 0)
      deep k = deep (k - 1) `catch` \(E n) -> throwIO (E (n + 1))
  r2 <- try (deep 5000)
  print (r2 :: Either E ())
  -- Loops that install and leave frames use no space: one million.
  forM_ [1 .. 200000 :: Int] $ \i -> when (i `mod` 3 == 0) (throwIO (E i)) `catch` \(E n) -> when (n == 199998) (print n)
  -- An exception in a finalizing action replaces the first one.
  r3 <- try ((throwIO (E 1) `finally` throwIO (E 2)) `finally` putStrLn "last")
  print (r3 :: Either E ())
