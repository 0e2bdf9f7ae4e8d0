-- RtsAPI.h: C makes boxed values, applies functions to them, evaluates and performs, and asks how it ended; last, it
-- performs a main.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_rts_api_c.c
module Exported where

import Control.Concurrent
import Control.Exception
import Foreign.StablePtr
import System.Exit
import System.IO
import System.Mem

foreign export ccall "hs_identity" identity :: IO (StablePtr (Int -> Int))
foreign export ccall "hs_action" action :: Int -> IO (StablePtr (IO Int))

-- Stands for functions of every type.
identity :: IO (StablePtr (Int -> Int))
identity = newStablePtr (\x -> x)

action :: Int -> IO (StablePtr (IO Int))
action n = newStablePtr $ do
  hSetBuffering stdout LineBuffering
  masked <- getMaskingState
  bound <- isCurrentThreadBound
  print (n, masked, bound)
  performMajorGC
  case n of
    1 -> throwIO (ErrorCall "thrown to C")
    2 -> return (error "evaluated for C")
    3 -> newEmptyMVar >>= takeMVar
    4 -> exitWith (ExitFailure 7)
    _ -> return (n + 40)
