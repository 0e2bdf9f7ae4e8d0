-- | Gangs: threads that communicate much run at the same time, each on a HEC of its own. So one that waits for another
-- for a moment, without giving up its HEC, does not wait for one that cannot run.
--
-- > scheduler <- Gang.new
-- > forkGang scheduler [work part | part <- [1 .. 4]]
--
-- A gang is /on/ from when there are HECs for all its threads that can run: those that no other gang has. They are
-- taken at once from threads of other schedulers. When the first of its threads yields or has used its time slice, and
-- another gang waits, the turn of the gang is over: it gives up all HECs. Gangs have their turns in the order in which
-- they began to wait. Those that fit on the HECs together are on at the same time. A gang with more threads than HECs
-- runs in parts.
--
-- While the next gang waits for HECs, some may have nothing to run: for a time slice at most.
module Hecaton.Scheduler.Gang (Gang, new, newOn, forkGang, alone) where

import Control.Concurrent.STM
import Control.Monad
import Data.Sequence (Seq, ViewL (..), viewl, (|>))
import qualified Data.Sequence as Seq
import GHC.Conc (ThreadId)
import Hecaton.Scheduler
import Hecaton.Scheduler.Running
import Hecaton.Substrate

-- | What a thread is forked with: the gang that it belongs to.
data Gang
  = -- | A gang of its own.
    Alone
  | Among Members

-- | Each thread that is forked with this is a gang of its own. So are threads that are forked without saying.
alone :: Gang
alone = Alone

data Members = Members
  { -- | How many have not been forked yet. Until all are, none runs.
    missing :: TVar Int,
    -- | Those that can run, and do not.
    ready :: TVar (Seq SCont),
    state :: TVar State
  }

data State
  = -- | None of its threads can run, or they are about to give up their HECs.
    Off
  | -- | It waits for its turn.
    Waits
  | On
  deriving (Eq)

newMembers :: Int -> STM Members
newMembers n = Members <$> newTVar n <*> newTVar Seq.empty <*> newTVar Off

-- | Makes the threads of a gang.
forkGang :: Scheduler Gang -> [IO ()] -> IO [ThreadId]
forkGang scheduler actions = do
  members <- atomically (newMembers (length actions))
  mapM (forkInAs scheduler (Among members)) actions

-- | A scheduler without threads, for all HECs that there are now.
new :: IO (Scheduler Gang)
new = getNumHECs >>= newOn

-- | The same, for this number of HECs.
newOn :: Int -> IO (Scheduler Gang)
newOn n = policy (max 1 n) >>= newSchedulerOn (max 1 n)

data Gangs = Gangs
  { -- | How many HECs there are.
    hecs :: Int,
    running :: Running Members,
    waiting :: TVar (Seq Members),
    areOn :: TVar [Members]
  }

-- | For this number of HECs, to which the domain must be limited: then it is asked for threads again whenever one of
-- its own gives up a HEC.
policy :: Int -> IO (Policy Gang Members)
policy n = do
  gangs <- Gangs n <$> newRunning <*> newTVarIO Seq.empty <*> newTVarIO []
  return
    WatchingPolicy
      { usual = Alone,
        arrive = arriveIn,
        put = putIn gangs,
        next = nextIn gangs,
        gone = const (leaves (running gangs)),
        insists = lacksHECs gangs,
        borrower = const Nothing
      }

arriveIn :: Gang -> STM Members
arriveIn Alone = newMembers 0
arriveIn (Among gang) = gang <$ modifyTVar' (missing gang) (subtract 1)

putIn :: Gangs -> Members -> SCont -> STM ()
putIn gangs gang s = do
  modifyTVar' (ready gang) (|> s)
  hadHEC <- stops (running gangs) s
  othersWait <- not . Seq.null <$> readTVar (waiting gangs)
  when (hadHEC && othersWait) (endTurn gangs gang)
  all' <- (<= 0) <$> readTVar (missing gang)
  now <- readTVar (state gang)
  when (all' && now == Off) $ writeTVar (state gang) Waits >> modifyTVar' (waiting gangs) (|> gang)

-- | The gang gives up its HECs.
endTurn :: Gangs -> Members -> STM ()
endTurn gangs gang = do
  now <- readTVar (state gang)
  when (now == On) $ do
    leaveTurn gangs gang
    placesOf gangs gang >>= mapM_ preemptHEC

leaveTurn :: Gangs -> Members -> STM ()
leaveTurn gangs gang = writeTVar (state gang) Off >> modifyTVar' (areOn gangs) (filter (not . is gang))

is :: Members -> Members -> Bool
is gang other = state gang == state other

-- | A thread of a gang that is on, or of the next one that waits, if there are HECs for it.
nextIn :: Gangs -> STM (Maybe SCont)
nextIn gangs = do
  -- What was chosen last may have been stale.
  runsHere (running gangs) Nothing
  on <- readTVar (areOn gangs)
  found <- firstReady on
  case found of
    Just _ -> choose found
    Nothing -> begin gangs >>= maybe (return Nothing) (\gang -> firstReady [gang] >>= choose)
  where
    choose found = runsHere (running gangs) found >> return (snd <$> found)
    firstReady [] = return Nothing
    firstReady (gang : others) = do
      threads <- readTVar (ready gang)
      case viewl threads of
        EmptyL -> do
          idle <- null <$> placesOf gangs gang
          when idle (leaveTurn gangs gang)
          firstReady others
        s :< rest -> do
          writeTVar (ready gang) rest
          unless (Seq.null rest) (callOthers gangs)
          return (Just (gang, s))

-- | The HECs that have no thread of a gang are to come for one.
callOthers :: Gangs -> STM ()
callOthers gangs = do
  here <- getCurrentHEC
  used <- map fst <$> onHECs (running gangs)
  mapM_ preemptHEC [hec | hec <- [0 .. hecs gangs - 1], hec /= here, hec `notElem` used]

-- | Has a gang that is on threads without HECs, and are there HECs without threads of a gang?
lacksHECs :: Gangs -> STM Bool
lacksHECs gangs = do
  on <- readTVar (areOn gangs)
  lacks <- or <$> mapM (fmap (not . Seq.null) . readTVar . ready) on
  used <- length <$> onHECs (running gangs)
  return (lacks && used < hecs gangs)

-- | The HECs that threads of the gang have.
placesOf :: Gangs -> Members -> STM [Int]
placesOf gangs gang = map fst . filter (is gang . fst . snd) <$> onHECs (running gangs)

-- | The turn of the next gang begins, if there are HECs for it. No gang that is on needs them.
begin :: Gangs -> STM (Maybe Members)
begin gangs = do
  all' <- readTVar (waiting gangs)
  case viewl all' of
    EmptyL -> return Nothing
    gang :< others -> do
      used <- length <$> onHECs (running gangs)
      stillHas <- placesOf gangs gang
      wanted <- min (hecs gangs) . Seq.length <$> readTVar (ready gang)
      if not (null stillHas) || wanted > hecs gangs - used
        then return Nothing
        else do
          writeTVar (waiting gangs) others
          writeTVar (state gang) On
          modifyTVar' (areOn gangs) (gang :)
          return (Just gang)
