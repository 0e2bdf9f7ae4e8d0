-- | Events on descriptors, and the back ends that report them.
module Hecaton.Event
  ( Event,
    evtRead,
    evtWrite,
    Backend,
    backend,
    readyWith,
    Timeout (..),
  )
where

import Hecaton.Event.Backend
