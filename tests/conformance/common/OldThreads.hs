-- Shared by programs whose waiting threads grow old before others arrive and some of them leave.
module OldThreads (GiveUp (..), blocked, blockedOn, finished, grow, orders, young) where
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.List
import GHC.Conc
import System.Mem

-- Thrown to a thread that is to stop waiting.
data GiveUp = GiveUp deriving Show
instance Exception GiveUp

-- Waits until the thread is blocked for such a reason, or has ended.
blockedOn :: (BlockReason -> Bool) -> ThreadId -> IO ()
blockedOn right t = threadStatus t >>= \s -> case s of
  ThreadBlocked why | right why -> return ()
  ThreadFinished -> return ()
  ThreadDied -> return ()
  _ -> yield >> blockedOn right t

blocked :: ThreadId -> IO ()
blocked = blockedOn (const True)

finished :: ThreadId -> IO ()
finished t = threadStatus t >>= \s -> case s of
  ThreadFinished -> return ()
  ThreadDied -> return ()
  _ -> yield >> finished t

-- All that there is becomes old.
grow :: IO ()
grow = replicateM_ 3 performMajorGC

-- Young data is collected, and the memory of what has died used anew.
young :: IO ()
young = replicateM_ 3 $ do
  evaluate (foldl' (+) 0 [length (show n) | n <- [1 .. 300 :: Int]]) >>= \n -> when (n < 0) (print n)
  performMinorGC

-- Which of three threads are to leave, in which order.
orders :: [[Int]]
orders = subsequences [1, 2, 3] ++ [[3, 2], [3, 2, 1]]
