-- A descriptor that is closed behind its handle's back and given out again names two locks; each is released once, the
-- latest first.
import Control.Monad
import Data.Word
import Foreign.C

foreign import ccall unsafe "lockFile" lockFile :: Word64 -> Word64 -> Word64 -> CInt -> IO CInt
foreign import ccall unsafe "unlockFile" unlockFile :: Word64 -> IO CInt

lock :: Word64 -> Word64 -> CInt -> IO ()
lock name file writing = lockFile name 1 file writing >>= \r -> print ("lock", name, file, writing, r)

unlock :: Word64 -> IO ()
unlock name = unlockFile name >>= \r -> print ("unlock", name, r)

main :: IO ()
main = do
  -- Two files.
  lock 1000 7 1 >> lock 1000 8 1 >> unlock 1000
  lock 1001 7 0 >> lock 1001 8 0
  unlock 1000 >> unlock 1000
  lock 1002 7 1 >> unlock 1002 >> unlock 1001
  -- One file, read twice.
  replicateM_ 2 (lock 2000 9 0)
  replicateM_ 2 (lock 2001 9 1 >> unlock 2000)
  lock 2001 9 1 >> unlock 2001 >> unlock 2000
