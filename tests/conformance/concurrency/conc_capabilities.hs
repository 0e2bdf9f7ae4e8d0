-- One capability: its number, setting it to one, threadCapability and forkOn.
-- skip-hecs: it prints how many HECs there are
import Control.Concurrent
import GHC.Conc (numCapabilities)

main :: IO ()
main = do
  getNumCapabilities >>= print
  print numCapabilities
  setNumCapabilities 1
  getNumCapabilities >>= print
  myThreadId >>= threadCapability >>= print . fst
  v <- newEmptyMVar
  t <- forkOn 0 (myThreadId >>= threadCapability >>= putMVar v)
  takeMVar v >>= print
  t2 <- forkOn 5 (myThreadId >>= threadCapability >>= putMVar v)
  takeMVar v >>= print
  print (t == t2, rtsSupportsBoundThreads)
