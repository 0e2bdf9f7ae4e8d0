{-# LANGUAGE GHCForeignImportPrim, MagicHash, UnboxedTuples, UnliftedFFITypes #-}

-- | What the package's module @Hecaton.Lenient.Runtime@ needs of the runtime (@rts/src/sched/lenient.rs@).
module Lenient (spark) where

import GHC.Base

foreign import prim "hec_lenientzh" lenient# :: Any -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Sparks a value for lenient evaluation.
spark :: Any -> State# RealWorld -> (# State# RealWorld, Int# #)
spark value s = lenient# value s
{-# NOINLINE spark #-}
