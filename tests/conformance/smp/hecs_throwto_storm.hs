-- On several HECs: asynchronous exceptions hit threads wherever they are (running, waiting for MVars, TVars, thunks,
-- delays, throwing themselves); brackets balance, every thrower comes back, and what was evaluated is right.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef

data Poke = Poke deriving Show
instance Exception Poke

fib :: Int -> Integer
fib n = if n < 2 then toInteger n else fib (n - 1) + fib (n - 2)

-- One step of work, in which an exception may come anywhere; what it acquires it releases.
step :: IORef Int -> MVar () -> TVar Int -> Integer -> Int -> IO ()
step open lock var shared i =
  bracket_ (atomicModifyIORef' open (\n -> (n + 1, ()))) (atomicModifyIORef' open (\n -> (n - 1, ()))) $
    case i `mod` 6 of
      0 -> withMVar lock (\_ -> yield)
      1 -> atomically $ modifyTVar' var (+ 1)
      2 -> void (evaluate (shared `mod` 7))
      3 -> threadDelay 20
      4 -> void (evaluate (fib (8 + i `mod` 5)))
      _ -> uninterruptibleMask_ (atomically (modifyTVar' var (subtract 1))) `seq` yield

main :: IO ()
main = do
  open <- newIORef (0 :: Int)
  hits <- newIORef (0 :: Int)
  lock <- newMVar ()
  var <- newTVarIO 0
  let shared = fib 21
  stop <- newIORef False
  workers <- forM [1 .. 6 :: Int] $ \k -> do
    done <- newEmptyMVar
    t <- mask_ $ forkIOWithUnmask $ \unmask -> do
      let loop i = do
            end <- readIORef stop
            unless end $ do
              r <- try (unmask (forM_ [i .. i + 5] (step open lock var shared)))
              case r of
                Left Poke -> atomicModifyIORef' hits (\n -> (n + 1, ()))
                Right () -> pure ()
              loop (i + k)
      loop k
      putMVar done ()
    pure (t, done)
  throwers <- forM [0 .. 3 :: Int] $ \k -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 250 :: Int] $ \i -> throwTo (fst (workers !! ((i * (k + 1) + k) `mod` 6))) Poke
      putMVar done ()
    pure done
  mapM_ takeMVar throwers
  writeIORef stop True
  mapM_ (takeMVar . snd) workers
  free <- tryTakeMVar lock
  o <- readIORef open
  h <- readIORef hits
  print (o, h, free, shared)
