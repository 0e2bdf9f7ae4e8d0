-- A shared thunk is computed once however often and wherever it is demanded; an unshared function is not.
-- ghc: -O0 -threaded
import Data.IORef
import System.IO.Unsafe
import Control.Concurrent

count :: IORef Int
count = unsafePerformIO (newIORef 0)
{-# NOINLINE count #-}

work :: Int -> Int
work n = unsafePerformIO (atomicModifyIORef' count (\c -> (c + 1, ()))) `seq` sum [1 .. n]
{-# NOINLINE work #-}

report :: String -> IO ()
report s = readIORef count >>= \c -> putStrLn (s ++ " " ++ show c)

main :: IO ()
main = do
  let t = work 1000
  report "nothing demanded"
  print (t + t)
  report "after first"
  let pair = (t, t * 2)
      list = replicate 10 (work 500)
  print (fst pair + snd pair)
  print (sum list)
  report "after list"
  let chain = foldr (\_ acc -> acc + 1) (work 10) [1 .. 1000 :: Int]
  print (chain, chain)
  report "after chain"
  done <- newEmptyMVar
  let shared = work 20000
  mapM_ (\_ -> forkIO (putMVar done $! shared)) [1 .. 8 :: Int]
  rs <- mapM (\_ -> takeMVar done) [1 .. 8 :: Int]
  print rs
  report "after eight threads"
