-- Threads that wait for their exceptions to be received by one that masks them grow old, and so does that one. Then
-- some of the throwing threads are killed, or give up and throw again, and young ones come. Collections of young data
-- alone follow. All exceptions come, each once.
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import OldThreads

newtype Number = Number Int deriving Show
instance Exception Number

data Then = Dies | ThrowsAgain deriving (Eq, Show, Enum, Bounded)

main :: IO ()
main = do
  wrong <- newIORef []
  forM_ [minBound .. maxBound] $ \how -> forM_ orders $ \gone -> forM_ [0, 2] $ \more -> forM_ (False : [True | more > 0]) $ \youngFirst -> do
    gate <- newEmptyMVar
    done <- newEmptyMVar
    -- Listens only once the gate is open, to one after the other.
    target <- mask_ $ forkIO $ do
      uninterruptibleMask_ (takeMVar gate)
      let listen got = try allowInterrupt >>= \r -> case r of
            Left (Number i) -> listen (i : got)
            Right () -> return (reverse got)
      listen [] >>= putMVar done
    blocked target
    let again i = throwTo target (Number i) `catch` \GiveUp -> when (how == ThrowsAgain) (again i)
        start i = forkIO (again i) >>= \t -> blocked t >> return t
    ts <- mapM start [1, 2, 3]
    grow
    let join = forM (take more [4, 5]) $ \i -> start i >>= \t -> young >> return t
    early <- if youngFirst then join else return []
    forM_ gone $ \g -> throwTo (ts !! (g - 1)) GiveUp >> blocked (ts !! (g - 1))
    young
    late <- if youngFirst then return early else join
    putMVar gate ()
    got <- takeMVar done
    let stay = ([1, 2, 3] \\ gone) ++ [g | how == ThrowsAgain, g <- gone] ++ take more [4, 5]
    when (sort got /= sort stay) $ modifyIORef wrong ((how, gone, more, youngFirst, got) :)
    mapM_ finished (ts ++ late)
  readIORef wrong >>= print
