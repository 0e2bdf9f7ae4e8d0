-- | The semantics of the substrate ([SHMP14, §5, §6, appendix]), as a model that finds all outcomes of small programs.
--
-- A program is a term of "Hecaton.Substrate.Model.Term". 'explore' runs it in all ways that the rules of
-- "Hecaton.Substrate.Model.Rule" allow:
--
-- > explore (Settings {hecCount = 1, ticks = NoTicks, stateLimit = 10000}) $
-- >   Fork (Perform Output [int 1]) >>> Perform Output [int 2]
--
-- outputs @["1", "2"]@, @["2", "1"]@ or @["2"]@, for the program ends with its main thread.
--
-- The model is the reference for the runtime: each outcome of the runtime has to be one of the model's. So where the
-- runtime may choose (which HEC makes an upcall, when a tick or an exception arrives, how threads of the built-in
-- scheduler take turns), the model takes every choice. It has no time, delays or descriptors, and threads that are
-- blocked for ever get no exception. A scheduler that breaks the rules ends the program ('Faulted'), as in the paper.
module Hecaton.Substrate.Model
  ( -- * Running programs
    explore,
    Settings (..),
    Ticks (..),
    Exploration (..),
    Outcome (..),
    Ending (..),
    Fault (..),

    -- * Single steps
    State,
    initial,
    canonical,
    Transition,
    steps,
    violations,
  )
where

import Hecaton.Substrate.Model.Explore
import Hecaton.Substrate.Model.Move
import Hecaton.Substrate.Model.State
import Hecaton.Substrate.Model.Step
import Hecaton.Substrate.Model.Violations
