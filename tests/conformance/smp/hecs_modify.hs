-- On several HECs: modifications of shared variables lose nothing and are seen once, whatever the function does
-- meanwhile: it fills a nursery, grows the stack, waits for a thunk, calls C, modifies other variables, raises, has
-- effects that must not be had twice.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.IntMap.Strict as M
import GHC.IORef (atomicModifyIORef'_)
import System.IO.Unsafe

foreign import ccall safe "math.h sqrt" slowSqrt :: Double -> Double

-- Runs the given number of threads, each with its number.
together :: Int -> (Int -> IO ()) -> IO ()
together n act = do
  dones <- forM [0 .. n - 1] $ \k -> do
    done <- newEmptyMVar
    _ <- forkFinally (act k) (putMVar done)
    return done
  forM_ dones $ takeMVar >=> either throwIO return

counted :: String -> Int -> (IORef Int -> Int -> IO ()) -> IO ()
counted name times act = do
  ref <- newIORef 0
  together 4 $ \k -> forM_ [1 .. times] $ \i -> act ref (k * times + i)
  readIORef ref >>= \n -> putStrLn (name ++ " " ++ show n)

depth :: Int -> Int
depth 0 = 0
depth n = 1 + depth (n - 1)
{-# NOINLINE depth #-}

main :: IO ()
main = do
  counted "plain" 20000 $ \ref _ -> atomicModifyIORef' ref (\n -> (n + 1, ()))
  counted "whole" 20000 $ \ref _ -> void (atomicModifyIORef'_ ref (+ 1))
  counted "lazy" 5000 $ \ref _ -> atomicModifyIORef ref (\n -> (n + 1, ()))
  counted "large" 200 $ \ref i -> atomicModifyIORef' ref (\n -> (n + length (filter odd [i .. i + 4000]) - 2000, ()))
  counted "deep" 100 $ \ref i -> atomicModifyIORef' ref (\n -> (n + depth (20000 + i `mod` 7) - 20000, ()))
  counted "call" 1000 $ \ref i -> atomicModifyIORef' ref (\n -> (n + round (slowSqrt (fromIntegral (i * i))), ()))
  -- Old values, each seen once.
  seen <- newIORef M.empty
  counted "old values" 5000 $ \ref _ -> do
    old <- atomicModifyIORef' ref (\n -> (n + 1, n))
    atomicModifyIORef' seen (\m -> (M.insertWith (+) old (1 :: Int) m, ()))
  readIORef seen >>= \m -> print (M.size m, M.foldl' max 0 m)
  -- What the functions need is evaluated by other threads meanwhile.
  shared <- newIORef M.empty
  let tables = [sum [depth (n `mod` 100) | n <- [k .. k + 2000]] | k <- [1 .. 50]] :: [Int]
  together 4 $ \k -> forM_ (zip [0 ..] tables) $ \(i, t) ->
    atomicModifyIORef' shared (\m -> (M.insertWith (+) (i * 4 + k) t m, ()))
  readIORef shared >>= print . sum . M.elems
  -- Effects are had once.
  effects <- newIORef (0 :: Int)
  counted "effects" 2000 $ \ref _ -> atomicModifyIORef' ref $ \n ->
    (n + unsafePerformIO (atomicModifyIORef' effects (\e -> (e + 1, 1))), ())
  readIORef effects >>= print
  -- At least this many of those that may be needless.
  vain <- newIORef (0 :: Int)
  counted "nested" 2000 $ \ref _ -> atomicModifyIORef' ref $ \n ->
    (n + unsafeDupablePerformIO (atomicModifyIORef' vain (\e -> (e + 1, 1))), ())
  readIORef vain >>= print . (>= 8000)
  -- The operation succeeds, and a thread that evaluates the value gets the exception: this one, too.
  raising <- newIORef (0 :: Int)
  together 4 $ \_ -> forM_ [1 .. 500 :: Int] $ \_ -> do
    r <- try (atomicModifyIORef' raising (\n -> if n > 10 then throw Overflow else (n + 1, ())))
    case r of
      Left Overflow -> atomicWriteIORef raising 0
      Left e -> throwIO e
      Right () -> return ()
  broken <- newIORef (0 :: Int)
  r <- try (together 4 $ \k -> forM_ [1 .. 100 :: Int] $ \i ->
    atomicModifyIORef' broken (\n -> if k == 3 && i == 50 then throw DivideByZero else (n + 1, ())))
  print (r :: Either ArithException ())
  try (readIORef broken >>= evaluate) >>= \v -> print (v :: Either ArithException Int)
