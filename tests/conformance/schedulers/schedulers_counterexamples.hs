-- Programs with which the comparison of the runtime with the model of the substrate has found bugs, made small.
-- ghc: -O -threaded
-- needs: hecaton
import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar, threadDelay, yield)
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Dynamic (fromDynamic, toDyn)
import Hecaton.Scheduler (forkIn)
import qualified Hecaton.Scheduler.RoundRobin as RoundRobin
import Hecaton.Substrate
import OnSubstrate
import System.Timeout (timeout)

main :: IO ()
main =
  substrateProgram
    [ expect "an upcall that marks the thread that has blocked" (Just (Just 'm')) (timeout 5000000 marked)
    , expect "old SConts of a thread that waits in the runtime" (replicate 2 (Left SContRunning)) oldSConts
    , expect "a host that is stopped before it knows its HEC" (Just ()) (timeout 5000000 lateHost)
    ]

-- The host still runs the threads that are made later.
lateHost :: IO ()
lateHost = do
  s <- RoundRobin.new
  replicateM_ 2 $ do
    done <- newEmptyMVar
    _ <- forkIn s (putMVar done ())
    atomically (preemptHEC 0)
    takeMVar done

-- The thread is not passive.
oldSConts :: IO [Either SubstrateException ()]
oldSConts = do
  waits <- newEmptyMVar
  s <- newSCont (takeMVar waits)
  atomically (enqueueAct s)
  replicateM_ 10 yield
  threadDelay 1000
  results <- mapM (try . atomically) [void (dequeueAct s), setAux s (toDyn ())]
  putMVar waits ()
  return results

-- The dequeue activation marks the thread that it is asked for.
marked :: IO (Maybe Char)
marked = do
  done <- newEmptyMVar
  _ <- forkIO $ do
    queue <- newTVarIO []
    setDequeueAct $ \s -> do
      setAux s (toDyn 'm')
      threads <- readTVar queue
      case threads of
        [] -> retry
        t : others -> writeTVar queue others >> return t
    setEnqueueAct (\s -> modifyTVar' queue (++ [s]))
    threadDelay 2000
    atomically (ownSCont >>= getAux) >>= putMVar done . fromDynamic
  takeMVar done
