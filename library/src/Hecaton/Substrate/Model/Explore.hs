-- | All outcomes of a program: a search through its states.
module Hecaton.Substrate.Model.Explore
  ( Outcome (..),
    Exploration (..),
    explore,
  )
where

import Data.List (find, foldl')
import Data.Map.Strict (Map)
import qualified Data.Map.Strict as Map
import Data.Set (Set)
import qualified Data.Set as Set
import Hecaton.Substrate.Model.Rule (Rule)
import qualified Hecaton.Substrate.Model.Rule as Rule
import Hecaton.Substrate.Model.State
import Hecaton.Substrate.Model.Step
import Hecaton.Substrate.Model.Violations

-- | What is seen of a run.
data Outcome = Outcome
  { -- | What was output, in order.
    outputs :: [String],
    ends :: Ending
  }
  deriving (Eq, Ord, Show)

-- | The result of a search.
data Exploration = Exploration
  { outcomes :: Set Outcome,
    -- | How many transitions took a rule.
    taken :: Map Rule Int,
    -- | The number of states.
    visited :: Int,
    -- | Whether all states were visited. If not, there may be other outcomes.
    complete :: Bool,
    -- | States that break an invariant, with what they break; empty unless the model has a bug.
    broken :: [(State, [String])]
  }

-- | Searches the states that a program can reach, up to 'stateLimit' of them. States that differ in the names of
-- addresses only are one.
--
-- Where a thread can take a 'Rule.PureStep', only that transition is followed, because it commutes with all others. A
-- tick or an exception before it has the same outcomes as one after it. Only states in which no thread can are kept.
-- These steps come to an end, because a term gets smaller by them.
explore :: Settings -> Code -> Exploration
explore settings program = go (Exploration Set.empty first 1 True []) (Set.singleton start) [start]
  where
    (first, start) = settle Map.empty (initial (hecCount settings) program)
    go found _ [] = found
    go found seen (state : rest)
      | visited found > stateLimit settings = found {complete = False}
      | otherwise = go found' seen' (fresh' ++ rest)
      where
        next = steps settings state
        (taken', seen', fresh') = foldl' follow (taken found, seen, []) next
        found' =
          found
            { outcomes = maybe id (Set.insert . Outcome (reverse (output state))) (ended state next) (outcomes found),
              taken = taken',
              visited = visited found + length fresh',
              broken = [(state, wrong) | wrong@(_ : _) <- [violations state]] ++ broken found
            }
    follow (counts, seen, fresh') (rules, next)
      | Set.member state seen = (counts', seen, fresh')
      | otherwise = (counts', Set.insert state seen, state : fresh')
      where
        (counts', state) = settle (foldl' count counts rules) next
    settle counts state = case find ((== [Rule.PureStep]) . fst) (steps settings state) of
      Just (rules, next) -> settle (foldl' count counts rules) next
      Nothing -> (counts, canonical state)
    count counts rule = Map.insertWith (+) rule 1 counts
    ended state next = case ending state of
      Nothing | null next -> Just Deadlocked
      how -> how
