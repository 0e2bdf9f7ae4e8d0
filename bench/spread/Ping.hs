{-# LANGUAGE CApiFFI #-}

-- Messages to processing element 1 and their answers.
module Ping (transport, hecs, median, timed) where

import Control.Concurrent
import Control.Monad
import Data.List
import Foreign.C.Types
import Foreign.StablePtr
import GHC.Clock
import GHC.Conc

foreign import ccall unsafe "hec_ping" c_ping :: CInt -> CSize -> StablePtr PrimMVar -> IO CBool

foreign import ccall safe "hec_ping_transport" c_pingTransport :: CInt -> CSize -> CULong -> IO CBool

-- `times` round trips of `size` bytes through the network tasks alone, while an OS thread waits.
transport :: Int -> Int -> IO ()
transport size times = void (c_pingTransport 1 (fromIntegral size) (fromIntegral times))

-- A round trip through a HEC of each, while a Haskell thread waits.
hecs :: Int -> IO ()
hecs size = do
  answered <- newEmptyMVar
  _ <- newStablePtrPrimMVar answered >>= c_ping 1 (fromIntegral size)
  takeMVar answered

-- Microseconds.
timed :: IO a -> IO (Double, a)
timed act = do
  begun <- getMonotonicTimeNSec
  result <- act
  ended <- getMonotonicTimeNSec
  return (fromIntegral (ended - begun) / 1000, result)

median :: [Double] -> Double
median figures = sort figures !! (length figures `div` 2)
