-- RtsAPI.h, HsFFI.h: the ways to begin and to end, each in a process of its own; the rest of what they declare.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_ways_to_end_c.c
-- skip-small: startupHaskell takes no options from GHCRTS
-- skip-hecs: startupHaskell takes no options from GHCRTS
module Exported where

import Control.Concurrent
import Foreign.StablePtr
import System.Environment
import System.IO

foreign export ccall "hs_arguments" arguments :: IO ()
foreign export ccall "hs_buffered" buffered :: IO ()
foreign export ccall "hs_thunk" thunk :: IO (StablePtr Int)

arguments :: IO ()
arguments = do
  name <- getProgName
  args <- getArgs
  print (name, args) >> hFlush stdout

-- Left in Haskell's buffer: it is written if the runtime ends in order.
buffered :: IO ()
buffered = hSetBuffering stdout (BlockBuffering Nothing) >> putStrLn "flushed at the end"

thunk :: IO (StablePtr Int)
thunk = newStablePtr (length (show (2 ^ (1000 :: Int) :: Integer)))
