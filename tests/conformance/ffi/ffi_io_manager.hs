-- rts/IOManager.h: C has the event manager end, which closes its descriptors, and begin again.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_io_manager_c.c
module Exported where

import Control.Concurrent

foreign export ccall "hs_delay" delay :: IO Int

delay :: IO Int
delay = do
  v <- newEmptyMVar
  _ <- forkIO (threadDelay 20000 >> putMVar v 7)
  takeMVar v
