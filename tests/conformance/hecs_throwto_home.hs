-- On several HECs: threads throw to a masked one elsewhere, and are thrown to at home just as their letters are read there. Each of
-- them hears that, and none has thrown.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef

data Poke = Poke deriving Show
instance Exception Poke

data Enough = Enough deriving Show
instance Exception Enough

times :: Int
times = 200000

-- A moment.
busy :: Int -> Int -> Int
busy 0 x = x
busy n x = busy (n - 1) (x * 6364136223846793005 + 1442695040888963407)
{-# NOINLINE busy #-}

-- Works until the end, and looks at its letters often.
work :: IORef Bool -> Integer -> IO ()
work end n = do
  stop <- readIORef end
  unless stop $ evaluate (n + 1) >>= work end

main :: IO ()
main = do
  end <- newIORef False
  pokes <- newIORef (0 :: Int)
  ended <- newEmptyMVar
  target <- mask_ $ forkOn 2 $ do
    work end (2 ^ (70 :: Int))
    (allowInterrupt >> yield) `catch` \Poke -> modifyIORef' pokes (+ 1)
    putMVar ended ()
  heard <- newEmptyMVar
  _ <- forkOn 1 $ do
    count <- newIORef (0 :: Int)
    forM_ [1 .. times] (interrupt target count heard)
  takeMVar heard
  writeIORef end True
  takeMVar ended
  readIORef pokes >>= print

-- Has a thread throw to the target, and after a moment throws to that thread.
interrupt :: ThreadId -> IORef Int -> MVar () -> Int -> IO ()
interrupt target count heard i = do
  t <- mask_ $ forkOnWithUnmask 1 $ \unmask -> do
    unmask (throwTo target Poke) `catch` \Enough -> do
      -- It may be preempted between a look and a store.
      n <- atomicModifyIORef' count (\c -> (c + 1, c + 1))
      when (n == times) (putMVar heard ())
  yield
  _ <- evaluate (busy (i `mod` 1000) i)
  throwTo t Enough
