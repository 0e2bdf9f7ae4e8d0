-- | Threads that evaluate and perform for other processing elements (@rts/src/spread/readers.rs@, @calls.rs@), and the
-- exceptions that say why something is not there.
--
-- The package's module @Hecaton.Cluster@ has types of its own for these exceptions, which it recognises by their names.
module Spread (serve, perform, failed, notTransferable, peLost, cancelled) where

import Control.Exception
import Foreign.C.String (CString)
import Foreign.C.Types (CInt (..))
import Foreign.Ptr (Ptr, castPtr)
import Foreign.StablePtr
import GHC.Base (Any)
import GHC.Foreign (peekCString, withCString)
import GHC.IO (unsafeUnmask)
import GHC.IO.Encoding (utf8)
import System.IO.Unsafe (unsafeDupablePerformIO)

-- | A value may not leave its processing element, because of what this names.
newtype NotTransferable = NotTransferable String

instance Show NotTransferable where
  show (NotTransferable what) = "not transferable: " ++ what

instance Exception NotTransferable

-- | What was needed was at a processing element that has been lost.
data PELost = PELost

instance Show PELost where
  show PELost = "a processing element was lost"

instance Exception PELost

foreign import ccall unsafe "hec_served" c_served :: Word -> CInt -> CString -> IO ()

foreign import ccall unsafe "hec_call_ended" c_ended :: Word -> StablePtr (Either SomeException Any) -> IO ()

-- | Evaluates an object, and has the runtime answer those that wait for it. If an exception is raised by the object, it
-- is its value. One that comes from elsewhere is told with a number, which @hec_served@ knows.
serve :: Any -> Word -> IO ()
serve object address = do
  met <- try (evaluate object)
  case met of
    Right _ -> served 0 ""
    Left e
      | Just StackOverflow <- fromException e -> served 1 ""
      | Just HeapOverflow <- fromException e -> served 2 ""
      | Just (NotTransferable what) <- fromException e -> served 3 what
      | otherwise -> served 4 ""
  where
    served number what = withCString utf8 what (c_served address number)

-- | Performs an action with exceptions unmasked, and has the runtime send the result. Called with exceptions masked.
perform :: IO Any -> Word -> IO ()
perform action name = do
  result <- try (unsafeUnmask action)
  pointer <- newStablePtr result
  c_ended name pointer
  freeStablePtr pointer

-- | The result of an action that has failed.
failed :: SomeException -> Either SomeException Any
failed = Left

notTransferable :: Ptr a -> SomeException
notTransferable text = toException (NotTransferable (unsafeDupablePerformIO (peekCString utf8 (castPtr text))))

peLost :: SomeException
peLost = toException PELost

-- | What an action gets whose result is not wanted any more.
cancelled :: SomeException
cancelled = toException ThreadKilled
