-- Transactions that wait grow old, in the queues of several variables, and then the queues change at their ends and in
-- the middle: some threads are killed, some give up and wait again, and young ones come before or after. Collections of
-- young data alone follow. A commit wakes all waiting threads.
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import GHC.Conc (BlockReason (..))
import OldThreads

data Then = Dies | WaitsAgain | TimesOut deriving (Eq, Show, Enum, Bounded)

waits :: ThreadId -> IO ()
waits = blockedOn (== BlockedOnSTM)

main :: IO ()
main = do
  wrong <- newIORef []
  forM_ [minBound .. maxBound] $ \how -> forM_ orders $ \gone -> forM_ [0, 2] $ \more -> forM_ (False : [True | more > 0]) $ \youngFirst -> do
    vars@[a, b, c] <- replicateM 3 (newTVarIO 0)
    out <- newTVarIO []
    go <- newTVarIO []
    -- Each waits for all three, or for a single one, so that it is at different places of their queues.
    let wait :: Int -> IO ()
        wait i = atomically $ do
          xs <- mapM readTVar (if even i then reverse vars else vars)
          told <- readTVar go
          when (all (< 1000) xs && i `notElem` told) retry
          modifyTVar' out (i :)
        again i = wait i `catch` \GiveUp -> when (how == WaitsAgain) (again i)
        start i = forkIO (again i) >>= \t -> waits t >> return t
    ts <- mapM start [1, 2, 3]
    grow
    let join = forM (take more [4, 5]) $ \i -> start i >>= \t -> young >> return t
    early <- if youngFirst then join else return []
    forM_ gone $ \g -> do
      if how == TimesOut then atomically (writeTVar go [g]) else throwTo (ts !! (g - 1)) GiveUp
      waits (ts !! (g - 1))
      -- A thread that has been told ends; the others have looked, and wait again.
      mapM_ waits ts
    young
    late <- if youngFirst then return early else join
    -- A write that makes nobody go on: all look, and join the queues anew.
    atomically (writeTVar b 1)
    mapM_ waits (ts ++ late)
    young
    atomically (writeTVar (if more == 0 then a else c) 1000)
    let stay = [i | i <- [1, 2, 3], how /= Dies || i `notElem` gone] ++ take more [4, 5]
    got <- atomically $ readTVar out >>= \is -> if length is < length stay then retry else return (sort is)
    when (got /= stay) $ modifyIORef wrong ((how, gone, more, youngFirst, got) :)
  readIORef wrong >>= print
