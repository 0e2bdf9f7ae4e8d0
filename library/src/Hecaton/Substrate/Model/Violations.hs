-- | Invariants of states ([SHMP14, §5.1, §6.8]).
module Hecaton.Substrate.Model.Violations
  ( violations,
  )
where

import Data.List (sort)
import qualified Data.Map.Strict as Map
import Data.Maybe (catMaybes, isNothing)
import Hecaton.Substrate.Model.State
import Hecaton.Substrate.Model.Term

-- | What is wrong with a state. Each state that is reached has none of these:
--
-- * a thread is on two HECs, or a HEC and its thread disagree;
-- * a passive or blocked thread runs;
-- * a thread waits for an MVar and is not in its queue, or is in the queue of another, or in one twice;
-- * threads wait for an MVar that would serve them;
-- * a thunk is under evaluation, and its evaluator has no frame that updates it;
-- * a thread waits until its exception has arrived, and the exception is not on its way;
-- * a thread that was given to its scheduler is in none of the program's structures, or an upcall thread is passive.
violations :: State -> [String]
violations state
  | not (isNothing (ending state)) = []
  | otherwise = concat [places, sleepers, queues, servable, blackHoles, throwers, lost, upcalls]
  where
    every = Map.toList (threads state)
    says condition text = [text | condition]

    places =
      says (sort onHecs /= sort [(h, a) | (a, Thread {status = OnHec h}) <- every]) "HECs and threads disagree"
    onHecs = [(h, a) | (h, Just a) <- zip [0 ..] (map hecThread (hecs state))]

    sleepers =
      [ "asleep outside of switch: " ++ show a
        | Sleeping a _ <- hecs state,
          case code (thread state a) of
            Switch _ -> False
            _ -> True
      ]

    queues = says (sort queued /= sort [(m, a) | (a, Thread {status = Blocked (OnMVar m _)}) <- every]) "MVar queues"
    queued = [(m, a) | (m, contents) <- Map.toList (mvars state), a <- waiting contents]
    waiting contents = case contents of
      Full _ as -> as
      Empty as -> as
    servable =
      [ "could be served: " ++ show a
        | (a, Thread {status = Blocked (OnMVar m put)}) <- every,
          Just contents <- [Map.lookup m (mvars state)],
          case (contents, put) of
            (Full _ _, Nothing) -> True
            (Empty _, Just _) -> True
            _ -> False
      ]

    blackHoles =
      [ "no evaluator of " ++ show x
        | (x, BlackHole a _) <- Map.toList (thunks state),
          maybe True (notElem (UpdateFrame x) . frames) (Map.lookup a (threads state))
      ]

    throwers =
      [ "no exception of " ++ show a
        | (a, Thread {status = Blocked (OnThrow b)}) <- every,
          maybe True (notElem a . map snd . pending) (Map.lookup b (threads state))
      ]

    lost =
      [ "in no queue: " ++ show a
        | (a, t@Thread {status = Passive Ready}) <- every,
          isUser t,
          number t `notElem` mentioned a
      ]
    mentioned a =
      concatMap (mentions state) (Map.keys (tvars state) ++ filter (/= a) (Map.keys (threads state)))
    upcalls =
      catMaybes
        [ case status t of
            OnHec _ -> Nothing
            _ -> Just ("upcall thread off its HEC: " ++ show a)
          | (a, t) <- every,
            kind t == Upcall
        ]
