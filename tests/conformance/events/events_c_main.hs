-- A C main starts and ends the runtime while Haskell threads wait for descriptors and time.
-- ghc: -O -threaded -no-hs-main
-- c: events_c_main_c.c
-- skip-package: its main is not in Haskell
module Exported where

import Control.Concurrent
import Control.Monad
import Foreign.C
import System.Posix.IO
import System.Timeout

foreign export ccall waitFor :: CInt -> CInt -> IO CInt
foreign export ccall startWaiters :: IO ()

-- The byte that is read within the time, or -1.
waitFor :: CInt -> CInt -> IO CInt
waitFor fd us = do
  r <- timeout (fromIntegral us) (threadWaitRead (fromIntegral fd) >> fdRead (fromIntegral fd) 1)
  return (maybe (-1) (fromIntegral . fromEnum . head . fst) r)

startWaiters :: IO ()
startWaiters = do
  (r, _) <- createPipe
  replicateM_ 3 (forkIO (threadWaitRead r >> putStrLn "woken"))
  replicateM_ 3 (forkIO (threadDelay 100000000 >> putStrLn "slept"))
  threadDelay 1000
