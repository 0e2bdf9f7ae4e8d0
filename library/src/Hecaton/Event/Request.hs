-- | Requests for file operations, and what completes them.
module Hecaton.Event.Request
  ( Request (..),
    Engine,
    perform,
  )
where

import Data.Word
import Foreign.C
import Foreign.ForeignPtr
import Foreign.Ptr
import System.Posix.Types

foreign import ccall safe "pread" c_pread :: CInt -> Ptr Word8 -> CSize -> COff -> IO CSsize

foreign import ccall safe "pwrite" c_pwrite :: CInt -> Ptr Word8 -> CSize -> COff -> IO CSsize

foreign import ccall safe "fdatasync" c_fdatasync :: CInt -> IO CInt

-- | What an engine is asked for: memory and where it goes to or comes from.
data Request
  = Read !Fd !FileOffset !(ForeignPtr Word8) !Int
  | Write !Fd !FileOffset !(ForeignPtr Word8) !Int
  | Sync !Fd

-- | What completes a batch. It fills in the results, in the order of the requests: a number of bytes, or the negated
-- number of an error.
type Engine = [Request] -> IO [Int]

-- | Completes a request by a call.
perform :: Request -> IO Int
perform request = case request of
  Read (Fd fd) offset memory n -> transfer memory $ \p -> c_pread fd p (fromIntegral n) (fromIntegral offset)
  Write (Fd fd) offset memory n -> transfer memory $ \p -> c_pwrite fd p (fromIntegral n) (fromIntegral offset)
  Sync (Fd fd) -> result (fromIntegral <$> c_fdatasync fd)
  where
    transfer memory call = result (withForeignPtr memory call)
    result :: IO CSsize -> IO Int
    result call = do
      n <- call
      if n >= 0
        then pure (fromIntegral n)
        else do
          Errno errno <- getErrno
          if Errno errno == eINTR then result call else pure (negate (fromIntegral errno))
