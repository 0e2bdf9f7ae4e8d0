-- Collections that wait for a HEC in an unsafe call are told of (--long-gc-sync), and GHC.Stats says how long they did.
-- ghc: -threaded
-- c: hecs_long_sync_c.c
-- args: +RTS -T -N2 --long-gc-sync=0.1 -RTS
-- compare: stdout,exit
import Control.Concurrent
import Foreign.C
import GHC.Stats
import System.Mem

foreign import ccall unsafe "hold_hec" holdHec :: CInt -> IO CInt
foreign import ccall safe "wait_until_held" waitUntilHeld :: IO ()
foreign import ccall unsafe "told_of_wait" toldOfWait :: IO CInt
foreign import ccall unsafe "told_of_end" toldOfEnd :: IO CInt

-- A collection while the other HEC is in a call that lasts for so many milliseconds: how long it waited, and what was told.
collectDuring :: Int -> IO (Bool, Bool, Bool)
collectDuring ms = do
  (here, _) <- threadCapability =<< myThreadId
  done <- newEmptyMVar
  _ <- forkOn (here + 1) (holdHec (fromIntegral ms) >> putMVar done ())
  waitUntilHeld
  performMajorGC
  s <- getRTSStats
  takeMVar done
  waits <- toldOfWait
  end <- toldOfEnd
  let sync = gcdetails_sync_elapsed_ns (gc s)
  return (sync >= fromIntegral ms * 500000, waits > 0, end >= fromIntegral ms `div` 2)

main :: IO ()
main = do
  done <- newEmptyMVar
  _ <- forkOn 0 (collectDuring 600 >>= putMVar done)
  takeMVar done >>= print
