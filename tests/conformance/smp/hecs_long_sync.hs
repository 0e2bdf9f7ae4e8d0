-- Collections that wait for a HEC in an unsafe call are told of (--long-gc-sync), and GHC.Stats says how long they did.
-- ghc: -threaded
-- c: hecs_long_sync_c.c
-- args: +RTS -T -N2 --long-gc-sync=0.1 -RTS
-- compare: stdout,exit
-- skip-order: it needs two HECs
import Control.Concurrent
import Data.Int
import GHC.Stats
import System.Mem

foreign import ccall unsafe "hold_hec" holdHec :: IO ()
foreign import ccall safe "wait_until_held" waitUntilHeld :: IO ()
foreign import ccall unsafe "told_of_wait" toldOfWait :: IO Int64
foreign import ccall unsafe "told_of_end" toldOfEnd :: IO Int64

-- A collection while the other HEC is in a call that lasts until somebody has been told that the collection waits. Has
-- it waited for as long as was told then, at least, and did it end no sooner?
collect :: IO (Bool, Bool, Bool)
collect = do
  (here, _) <- threadCapability =<< myThreadId
  done <- newEmptyMVar
  _ <- forkOn (here + 1) (holdHec >> putMVar done ())
  waitUntilHeld
  performMajorGC
  s <- getRTSStats
  takeMVar done
  waited <- toldOfWait
  end <- toldOfEnd
  return (waited >= 100000000, end >= waited, fromIntegral (gcdetails_sync_elapsed_ns (gc s)) >= waited)

main :: IO ()
main = do
  done <- newEmptyMVar
  _ <- forkOn 0 (collect >>= putMVar done)
  takeMVar done >>= print
