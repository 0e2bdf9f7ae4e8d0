-- GHC.RTS.Flags reads what the flags set.
-- args: +RTS -A256k -n64k -O512k -F3 -G2 -H2m -K5m -M50m -c40 -I0.1 -C0.02 -V0.005 -RTS
import GHC.RTS.Flags
main :: IO ()
main = do
  g <- getGCFlags
  print (nurseryChunkSize g, minOldGenSize g, oldGenFactor g, generations g)
  print (heapSizeSuggestion g, maxStkSize g, maxHeapSize g)
  print (compactThreshold g, idleGCDelayTime g, doIdleGC g)
  c <- getConcFlags
  print (ctxtSwitchTime c, ctxtSwitchTicks c)
  m <- getMiscFlags
  print (tickInterval m)
