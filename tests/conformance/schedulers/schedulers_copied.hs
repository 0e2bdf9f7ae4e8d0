-- An activation needs a thunk that a passive thread evaluates within a handler, or masked. It evaluates a copy.
-- ghc: -O -threaded
-- needs: hecaton
import Control.Concurrent (ThreadId, myThreadId)
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Needing
import OnSubstrate
import RoundRobin (fork, yield)
import System.IO.Unsafe (unsafeDupablePerformIO, unsafePerformIO)

main :: IO ()
main =
  substrateProgram
    [ expect "a handler" (30000000, True, Unmasked) (repeated (\count -> evaluate count `catch` arithmetic))
    , expect "a handler that is used" (7, True, Unmasked) (repeated (\count -> evaluate (count `div` 0) `catch` arithmetic))
    , expect "masked" (30000000, True, Unmasked) (repeated (\count -> mask_ (evaluate count)))
    , expect "masked, and not below" (30000000, True, Unmasked) (repeated (\count -> mask (\restore -> restore (evaluate count))))
    , expect "not repeated" (30000000, False, Unmasked) (needed unsafePerformIO (\count -> evaluate count `catch` arithmetic))
    ]

arithmetic :: ArithException -> IO Int
arithmetic _ = return 7

-- The thread is preempted while it evaluates. The value, whether another thread has completed the evaluation as well,
-- and the masking state afterwards.
needed :: (IO Int -> Int) -> (Int -> IO Int) -> IO (Int, Bool, MaskingState)
needed unsafely body = do
  evaluators <- newIORef [] :: IO (IORef [ThreadId])
  top <- newIORef (60000000 :: Int)
  let n = unsafely $ do
        end <- readIORef top
        r <- body (length (filter even [1 .. end]))
        myThreadId >>= \t -> atomicModifyIORef' evaluators (\ts -> (t : ts, ()))
        return r
  needing n
  others <- newTVarIO False
  fork (atomically (writeTVar others True))
  _ <- evaluate n
  masked <- getMaskingState
  let wait = readTVarIO others >>= \done -> unless done (yield >> wait)
  wait
  me <- myThreadId
  repeats <- any (/= me) <$> readIORef evaluators
  return (n, repeats, masked)
{-# NOINLINE needed #-}

repeated :: (Int -> IO Int) -> IO (Int, Bool, MaskingState)
repeated = needed unsafeDupablePerformIO
