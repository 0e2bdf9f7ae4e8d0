-- On several HECs: threads throw to a masked one elsewhere, and are thrown to at home just as their letters are read
-- there. Each of them hears that, and none has thrown.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Clock (getMonotonicTime)

data Poke = Poke deriving Show
instance Exception Poke

data Enough = Enough deriving Show
instance Exception Enough

-- The maximum number of rounds; `seconds` limits their time.
most :: Int
most = 200000

seconds :: Double
seconds = 5

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
    start <- getMonotonicTime
    count <- newIORef (0 :: Int)
    rounds <- interrupts target count (start + seconds) 0
    untilHeard count rounds
    putMVar heard ()
  takeMVar heard
  writeIORef end True
  takeMVar ended
  readIORef pokes >>= print

-- How many there were.
interrupts :: ThreadId -> IORef Int -> Double -> Int -> IO Int
interrupts target count end n = do
  now <- getMonotonicTime
  if n == most || now > end then return n else interrupt target count n >> interrupts target count end (n + 1)

-- Has a thread throw to the target, and after a moment throws to that thread.
interrupt :: ThreadId -> IORef Int -> Int -> IO ()
interrupt target count i = do
  t <- mask_ $ forkOnWithUnmask 1 $ \unmask ->
    unmask (throwTo target Poke) `catch` \Enough ->
      -- It may be preempted between a look and a store.
      atomicModifyIORef' count (\c -> (c + 1, ()))
  yield
  _ <- evaluate (busy (i `mod` 1000) i)
  throwTo t Enough

untilHeard :: IORef Int -> Int -> IO ()
untilHeard count rounds = do
  n <- readIORef count
  unless (n == rounds) $ threadDelay 100 >> untilHeard count rounds
