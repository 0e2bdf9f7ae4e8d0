-- throwTo to oneself, masked and unmasked, from IO and through pure code.
import Control.Concurrent
import Control.Exception
import System.IO.Unsafe

main :: IO ()
main = do
  me <- myThreadId
  r <- try (throwTo me Overflow >> putStrLn "not reached") :: IO (Either ArithException ())
  print r
  r2 <- try (mask_ (throwTo me (userError "masked self") >> putStrLn "not reached")) :: IO (Either IOException ())
  print r2
  r3 <- try (uninterruptibleMask_ (throwTo me (AssertionFailed "even here") >> putStrLn "not reached")) :: IO (Either AssertionFailed ())
  print r3
  let x = unsafePerformIO (throwTo me Underflow >> return 5) + 1 :: Int
  r4 <- try (evaluate x) :: IO (Either ArithException Int)
  print r4
  -- The computation was frozen, not poisoned: demanded again, it goes on after the throw.
  r5 <- try (evaluate x) :: IO (Either ArithException Int)
  print r5
  killThread me `catch` \e -> print (e :: AsyncException)
  putStrLn "alive"
