-- Rts.h and what it includes: messages, shared libraries, static pointers, coverage, clocks, stores, the timer.
-- skip-hecs: with the timer stopped, the other thread may run on another HEC
-- c: ffi_rest_of_headers_c.c
module Main where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign
import GHC.Clock
import System.IO

foreign import ccall safe "messages" messages :: IO ()
foreign import ccall safe "shared_libraries" sharedLibraries :: IO ()
foreign import ccall safe "static_pointers" staticPointers :: StablePtr Int -> StablePtr Int -> IO ()
foreign import ccall safe "coverage" coverage :: IO ()
foreign import ccall safe "clocks" clocks :: IO ()
foreign import ccall safe "globals" globals :: StablePtr Int -> StablePtr Int -> IO ()
foreign import ccall safe "ends" ends :: IO ()
foreign import ccall unsafe "stopTimer" stopTimer :: IO ()
foreign import ccall unsafe "startTimer" startTimer :: IO ()

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  messages
  sharedLibraries
  a <- newStablePtr (1 :: Int)
  b <- newStablePtr 2
  staticPointers a b
  coverage
  clocks
  globals a b
  ends
  timer

-- With the timer stopped a thread that computes goes on; with the timer running it gives way.
timer :: IO ()
timer = do
  counter <- newIORef (0 :: Int)
  stopTimer
  -- A tick may have come before.
  yield
  _ <- forkIO (forever (modifyIORef' counter (+ 1) >> yield))
  begin <- getMonotonicTime
  let compute done = do
        _ <- evaluate (length (show (2 ^ (200 :: Int) :: Integer)))
        now <- getMonotonicTime
        n <- readIORef counter
        unless (done now n) (compute done)
  compute (\now _ -> now > begin + 0.2)
  readIORef counter >>= \n -> putStrLn ("while it is stopped: " ++ show n)
  startTimer
  compute (\_ n -> n > 0)
  putStrLn "started again"
