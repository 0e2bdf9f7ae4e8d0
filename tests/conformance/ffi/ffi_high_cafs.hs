-- setKeepCAFs keeps every CAF that has been entered; after setHighMemDynamic only those of code in the first two
-- gigabytes: none of this program, which is loaded anywhere.
-- ghc: -O -dynamic -fPIC -fPIE -pie
-- c: ffi_high_cafs_c.c
import Control.Monad
import Data.IORef
import System.IO.Unsafe
import System.Mem
import System.Mem.Weak

foreign import ccall "setKeepCAFs" setKeepCAFs :: IO ()
foreign import ccall "setHighMemDynamic" setHighMemDynamic :: IO ()
foreign import ccall "is_high" isHigh :: IO Int

kept, dropped :: IORef Int
kept = unsafePerformIO (newIORef 1)
{-# NOINLINE kept #-}
dropped = unsafePerformIO (newIORef 2)
{-# NOINLINE dropped #-}

main :: IO ()
main = do
  isHigh >>= print
  setKeepCAFs
  a <- mkWeakIORef kept (return ())
  readIORef kept >>= print
  replicateM_ 3 performMajorGC
  alive a >>= print
  setHighMemDynamic
  b <- mkWeakIORef dropped (return ())
  readIORef dropped >>= print
  replicateM_ 3 performMajorGC
  alive b >>= print

alive :: Weak a -> IO Bool
alive w = maybe False (const True) <$> deRefWeak w
