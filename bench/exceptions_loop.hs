-- Exceptions: throwing and catching in loops, through deep stacks, brackets and pure code.
-- args: 6000000
import Control.Exception
import Control.Monad
import Data.IORef
import System.Environment

newtype Stop = Stop Int deriving Show
instance Exception Stop

deep :: Int -> Int -> IO Int
deep 0 v = throwIO (Stop v)
deep k v = (+ 1) <$> deep (k - 1) v

safeDiv :: Int -> Int -> Int
safeDiv a b = if b `mod` 3 == 0 then throw (Stop a) else a `div` b

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  total <- newIORef (0 :: Int)
  let add x = modifyIORef' total (\t -> (t + x) `mod` 1000003)
  forM_ [1 .. n] $ \i -> (when (odd i) (throwIO (Stop i)) >> add 1) `catch` \(Stop k) -> add k
  forM_ [1 .. n `div` 50] $ \i -> deep 200 i `catch` (\(Stop k) -> return k) >>= add
  forM_ [1 .. n] $ \i -> (evaluate (safeDiv i (i + 1)) `catch` \(Stop k) -> return (k * 2)) >>= add
  forM_ [1 .. n] $ \i -> bracket (return i) (\_ -> add 1) (\k -> add k)
  forM_ [1 .. n `div` 4] $ \i -> (try (evaluate (i `div` (i `mod` 2))) :: IO (Either ArithException Int)) >>= add . either (const 5) id
  readIORef total >>= print
