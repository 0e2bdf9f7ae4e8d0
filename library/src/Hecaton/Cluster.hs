{-# LANGUAGE CApiFFI #-}

-- | One program over many processing elements (PEs): processes, each with its own heap. @hecaton spread -n 4 PROGRAM@
-- starts a program so. PE 0 runs @main@.
--
-- A program that runs by itself, on whatever runtime, is PE 0 of one.
module Hecaton.Cluster
  ( PE (..),
    myPE,
    numPEs,
  )
where

import Foreign.C.Types (CInt (..))

-- | A processing element, by its number: 0 to 'numPEs' - 1.
newtype PE = PE Int
  deriving (Eq, Ord, Show, Read)

foreign import capi unsafe "hecaton_runtime.h hecaton_own_pe" c_ownPE :: IO CInt

foreign import capi unsafe "hecaton_runtime.h hecaton_pe_count" c_peCount :: IO CInt

-- | The PE on which the calling thread runs.
myPE :: IO PE
myPE = PE . fromIntegral <$> c_ownPE

-- | How many PEs take part in this run.
numPEs :: IO Int
numPEs = fromIntegral <$> c_peCount
