{-# LANGUAGE CApiFFI #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE Trustworthy #-}
{-# LANGUAGE UnboxedTuples #-}

-- | What code calls that the plugin "Hecaton.Lenient" has changed.
module Hecaton.Lenient.Runtime
  ( lenient,
  )
where

import Foreign.Ptr (nullPtr)
import GHC.Exts
import System.IO.Unsafe (unsafePerformIO)
import Unsafe.Coerce (unsafeCoerce)

-- | Sparks a value for lenient evaluation, and does not wait for it. On another runtime than Hecaton, and with one HEC,
-- this does nothing.
lenient :: a -> ()
lenient value = case spark of
  Spark f -> case f (unsafeCoerce# value) realWorld# of (# _, _ #) -> ()
{-# NOINLINE lenient #-}

newtype Spark = Spark (Any -> State# RealWorld -> (# State# RealWorld, Int# #))

foreign import capi unsafe "hecaton_runtime.h hecaton_lenient" c_function :: IO (Ptr ())

spark :: Spark
spark = unsafePerformIO $ do
  Ptr address <- c_function
  pure $
    if Ptr address == nullPtr
      then Spark (\_ s -> (# s, 0# #))
      else case addrToAny# address of (# function #) -> Spark (unsafeCoerce function)
{-# NOINLINE spark #-}
