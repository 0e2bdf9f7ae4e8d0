-- The scheduler of docs/schedulers.md, on two HECs: its threads run on both, share variables of both kinds, and main
-- waits for them.
-- ghc: -O -threaded
-- needs: hecaton
-- args: +RTS -N2 -RTS
import Control.Concurrent.MVar
import Control.Concurrent.STM
import Control.Monad
import qualified Data.Set as Set
import Guide
import Hecaton.Substrate
import OnSubstrate

main :: IO ()
main = substrateProgram [expect "threads take turns on two HECs" (100 * 20, [0, 1]) onTwo]

onTwo :: IO (Int, [Int])
onTwo = do
  newScheduler
  useHEC
  left <- newTVarIO (100 :: Int)
  total <- newMVar 0
  seen <- newTVarIO Set.empty
  both <- newTVarIO False
  -- One thread ends when both HECs have run some.
  fork (untilBoth seen both)
  replicateM_ 100 . fork $ do
    replicateM_ 20 $ do
      modifyMVar_ total (return . (+ 1))
      atomically (getCurrentHEC >>= modifyTVar' seen . Set.insert)
      yield
    atomically (modifyTVar' left (subtract 1))
  atomically (readTVar left >>= check . (== 0))
  atomically (readTVar both >>= check)
  (,) <$> readMVar total <*> (Set.toList <$> readTVarIO seen)

untilBoth :: TVar (Set.Set Int) -> TVar Bool -> IO ()
untilBoth seen both = do
  n <- atomically $ do
    getCurrentHEC >>= modifyTVar' seen . Set.insert
    Set.size <$> readTVar seen
  if n == 2 then atomically (writeTVar both True) else yield >> untilBoth seen both
