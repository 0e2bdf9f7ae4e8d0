-- rts/Threads.h: C makes Haskell threads, runs them and builds what one does on its stack by hand; objects made by
-- `allocate` live. (As it ends, the event manager of the stock runtime may complain on standard error about a pipe that
-- has been closed.)
-- ghc: -O -threaded -no-hs-main
-- c: ffi_make_threads_c.c
-- compare: stdout, exit
module Exported where

import Control.Concurrent
import Control.Exception
import Foreign.StablePtr
import System.IO
import System.Mem

foreign export ccall "hs_action" action :: Int -> IO (StablePtr (IO Int))
foreign export ccall "hs_product" lazyProduct :: Int -> IO (StablePtr Integer)
foreign export ccall "hs_total" total :: StablePtr [Int] -> IO Int

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
    3 -> do
      v <- newEmptyMVar
      _ <- forkIO (yield >> putMVar v 77)
      takeMVar v
    4 -> return $! deep 100000
    _ -> return (n + 40)

deep :: Int -> Int
deep 0 = 0
deep n = 1 + deep (n - 1)

lazyProduct :: Int -> IO (StablePtr Integer)
lazyProduct n = newStablePtr (product [1 .. toInteger n] `mod` 1000003)

total :: StablePtr [Int] -> IO Int
total p = sum <$> deRefStablePtr p
