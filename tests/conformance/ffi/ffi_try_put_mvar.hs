-- hs_try_putmvar wakes a Haskell thread from a C thread.
-- c: ffi_try_put_mvar_c.c
import Control.Concurrent
import Foreign.C
import Foreign.StablePtr
import GHC.Conc

foreign import ccall unsafe "signal_later" signalLater :: CInt -> StablePtr PrimMVar -> IO ()

main :: IO ()
main = do
  m <- newEmptyMVar
  sp <- newStablePtrPrimMVar m
  signalLater (-1) sp
  takeMVar m
  putStrLn "woken"
  v <- newEmptyMVar
  vs <- newStablePtrPrimMVar v
  _ <- forkIO (threadDelay 5000)
  signalLater (-1) vs
  takeMVar v
  putStrLn "again"
