-- How long a message to another processing element and its answer take, in microseconds. Prints a line for each size in
-- bytes: the size; through the network tasks alone, while an OS thread waits; through a HEC of each, while a Haskell
-- thread waits. Argument: how many round trips of each kind are made.
-- ghc: -O -threaded
{-# LANGUAGE CApiFFI #-}

import Control.Concurrent
import Control.Monad
import Foreign.C.Types
import Foreign.StablePtr
import GHC.Clock
import GHC.Conc
import System.Environment

foreign import ccall unsafe "hec_ping" c_ping :: CInt -> CSize -> StablePtr PrimMVar -> IO CBool

foreign import ccall safe "hec_ping_transport" c_pingTransport :: CInt -> CSize -> CULong -> IO CBool

main :: IO ()
main = do
  [times] <- map read <$> getArgs
  forM_ [128, 1024, 16384, 65536] $ \size -> do
    let transport n = void (c_pingTransport 1 size (fromIntegral n))
        hecs n = replicateM_ n $ do
          answered <- newEmptyMVar
          _ <- newStablePtrPrimMVar answered >>= c_ping 1 size
          takeMVar answered
        measured way = do
          () <- way (times `div` 10)
          begun <- getMonotonicTimeNSec
          () <- way times
          ended <- getMonotonicTimeNSec
          return (fromIntegral (ended - begun) / fromIntegral times / 1000 :: Double)
    both <- mapM measured [transport, hecs]
    putStrLn (unwords (show size : map show both))
