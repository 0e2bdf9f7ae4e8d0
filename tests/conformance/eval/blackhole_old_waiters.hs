-- Threads that wait for a lazy value grow old, with the value's thunk and the thread that evaluates it. Then some of
-- them are killed, or give up and wait again, young ones come, or the evaluation itself is killed and has to be taken
-- up by a waiter. Collections of young data alone follow.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import OldThreads
import System.IO.Unsafe

data Then = Dies | WaitsAgain deriving (Eq, Show, Enum, Bounded)

-- A value that comes when the gate is opened, and is new then: its parts are computed on the way.
{-# NOINLINE lazily #-}
lazily :: MVar Int -> [Int]
lazily gate = unsafePerformIO $ do
  n <- readMVar gate
  return (map (* n) [1 .. 5])

main :: IO ()
main = do
  wrong <- newIORef []
  forM_ [False, True] $ \ownerDies -> forM_ [minBound .. maxBound] $ \how ->
    forM_ orders $ \gone -> forM_ [0, 2] $ \more -> forM_ (False : [True | more > 0]) $ \youngFirst -> do
      gate <- newEmptyMVar
      out <- newMVar []
      let value = lazily gate
          look i = evaluate (sum value) >>= \s -> modifyMVar_ out (return . ((i, s) :))
          start i = forkIO (again i) >>= \t -> blocked t >> return t
          again i = look i `catch` \GiveUp -> when (how == WaitsAgain) (again i)
      owner <- start 0
      ts <- mapM start [1, 2, 3]
      grow
      let join = forM (take more [4, 5]) $ \i -> start i >>= \t -> young >> return t
      early <- if youngFirst then join else return []
      forM_ gone $ \g -> throwTo (ts !! (g - 1)) GiveUp >> blocked (ts !! (g - 1))
      young
      late <- if youngFirst then return early else join
      when ownerDies $ killThread owner >> mapM_ blocked (ts ++ late) >> young
      later <- start 6
      young
      putMVar gate (7 :: Int)
      mapM_ finished (owner : later : ts ++ late)
      got <- sort <$> readMVar out
      let stay = [0 | not ownerDies] ++ [i | i <- [1, 2, 3], how == WaitsAgain || i `notElem` gone] ++ take more [4, 5] ++ [6]
      when (got /= [(i, 105) | i <- stay]) $ modifyIORef wrong ((ownerDies, how, gone, more, youngFirst, got) :)
      when (value /= map (* 7) [1 .. 5]) $ print value
  readIORef wrong >>= print
