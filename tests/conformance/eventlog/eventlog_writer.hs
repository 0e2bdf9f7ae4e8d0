-- An event log that goes to a C program, which reads it strictly: the header, every block, every event.
-- skip-hecs: each HEC has an event manager of its own, so the number of threads differs
-- ghc: -O -threaded -eventlog -no-hs-main
-- c: eventlog_writer_c.c
{-# LANGUAGE MagicHash, UnboxedTuples #-}
module Exported where

import Control.Concurrent
import Control.Monad
import Debug.Trace
import GHC.Conc (labelThread)
import GHC.Exts (traceBinaryEvent#)
import GHC.IO (IO (..))

foreign export ccall work :: Int -> IO ()

work :: Int -> IO ()
work n = do
  traceEventIO ("work " ++ show n)
  traceMarkerIO "marker"
  -- As long as an event can be, longer, and in other alphabets.
  traceEventIO (replicate 65535 'x')
  traceEventIO "\955\233"
  IO (\s -> case traceBinaryEvent# "a\0b"# 3# s of s' -> (# s', () #))
  done <- newEmptyMVar
  forM_ [1 .. n] $ \i -> do
    go <- newEmptyMVar
    t <- forkIO (takeMVar go >> traceEventIO ("thread " ++ show i) >> putMVar done ())
    labelThread t ("label " ++ show i)
    putMVar go ()
    takeMVar done
  traceEvent "pure" (print (sum [1 .. n]))
