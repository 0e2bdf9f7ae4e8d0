-- Weak pointers: alive while the key is, dead after a collection without it, value kept only through the key.
-- ghc: -O0 -threaded
import Control.Concurrent.MVar
import Data.IORef
import System.Mem
import System.Mem.Weak

data Key = Key Int String

{-# NOINLINE use #-}
use :: Key -> IO ()
use (Key n s) = putStrLn (s ++ show n)

main :: IO ()
main = do
  ran <- newEmptyMVar
  let key = Key (length (show ran')) "key"
      ran' = 'r'
  use key
  w <- mkWeak key "value" Nothing
  performMajorGC
  deRefWeak w >>= print
  use key
  k2 <- newIORef 'q'
  dead <- mkWeakIORef k2 (putMVar ran "finalizer of k2")
  performMajorGC
  takeMVar ran >>= putStrLn
  r <- deRefWeak dead
  putStrLn (maybe "dead" (const "alive") r)
  -- The value refers to the key: that alone keeps nothing alive.
  k3 <- newIORef [1 :: Int]
  w3 <- mkWeakIORef k3 (readIORef k3 >>= putMVar ran . show)
  readIORef k3 >>= print
  performMajorGC
  takeMVar ran >>= putStrLn
  r3 <- deRefWeak w3
  putStrLn (maybe "dead" (const "alive") r3)
  -- Explicit finalization, once only.
  k4 <- newIORef 'z'
  w4 <- mkWeakIORef k4 (putStrLn "finalizer of k4")
  finalize w4
  finalize w4
  r4 <- deRefWeak w4
  putStrLn (maybe "dead" (const "alive") r4)
  readIORef k4 >>= print
