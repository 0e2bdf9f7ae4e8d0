-- Threads that rest for several collections with little on their stacks and with much, and are then woken in every way:
-- by a put, a take, a commit, an exception with a handler, killThread, a deadlock; all then need deep stacks.
-- ghc: -O
-- args: +RTS -A16k -RTS
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Conc
import System.Mem

data Poke = Poke Int deriving Show
instance Exception Poke

-- Not a loop: each level waits for the next.
deep :: Int -> Int
deep 0 = 0
deep n = 1 + deep (n - 1)
{-# NOINLINE deep #-}

-- A wait below the given number of frames.
below :: Int -> IO Int -> IO Int
below 0 wait = wait
below n wait = do
  x <- below (n - 1) wait
  return $! x + 1
{-# NOINLINE below #-}

-- What follows the wait keeps many values alive at once, for which there was a stack check before it.
wide :: IORef Int -> IO Int -> IO Int
wide r wait = do
  x <- wait
  let next = atomicModifyIORef r (\k -> (k + x, k))
  a <- next; b <- next; c <- next; d <- next; e <- next; f <- next; g <- next; h <- next
  i <- next; j <- next; k <- next; l <- next; m <- next; n <- next; o <- next; p <- next
  a' <- next; b' <- next; c' <- next; d' <- next; e' <- next; f' <- next; g' <- next; h' <- next
  i' <- next; j' <- next; k' <- next; l' <- next; m' <- next; n' <- next; o' <- next; p' <- next
  yield
  let vs = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a', b', c', d', e', f', g', h', i', j', k', l', m', n', o', p']
  evaluate (foldr (\v s -> (v + 2 * s) `mod` 1000003) x vs)
{-# NOINLINE wide #-}

-- Young garbage and full collections: each thread is copied several times.
collections :: IO ()
collections = forM_ [1 .. 4 :: Int] $ \i -> do
  _ <- evaluate (length (show (product [1 .. fromIntegral (1200 + i) :: Integer])))
  performMinorGC
  when (even i) performMajorGC

threads :: Int
threads = 60

-- Threads at different depths come to `wait`, rest, and are woken by `wake`; what they say comes in the order
-- of their numbers.
rest :: String -> (Int -> IO (IO Int, ThreadId -> IO ())) -> IO ()
rest name make = do
  all' <- forM [1 .. threads] $ \i -> do
    (wait, wake) <- make i
    out <- newEmptyMVar
    started <- newEmptyMVar
    r <- newIORef i
    let work = below (i * i `div` 4) (wide r wait)
        handler e = return $! negate (deep (20000 + i)) - length (show (e :: SomeException))
    t <- forkIO (putMVar started () >> (work `catch` handler) >>= \x -> evaluate (x + deep 3000) >>= putMVar out)
    takeMVar started
    return (t, wake t, out)
  mapM_ (\(t, _, _) -> untilItRests t) all'
  collections
  mapM_ (\(_, wake, _) -> wake) all'
  xs <- mapM (\(_, _, out) -> takeMVar out) all'
  putStrLn (name ++ ": " ++ show (sum xs) ++ " " ++ show (take 5 xs))

untilItRests :: ThreadId -> IO ()
untilItRests t = threadStatus t >>= \s -> case s of
  ThreadBlocked _ -> return ()
  _ -> threadDelay 100 >> untilItRests t

-- Their variables are within reach for some collections, and then no more.
deadlock :: IO ()
deadlock = do
  done <- newIORef []
  vars <- replicateM threads newEmptyMVar >>= newIORef
  readIORef vars >>= \vs -> forM_ (zip [1 ..] vs) $ \(i, v) -> forkIO $ do
    x <- below i (takeMVar v) `catch` \e -> return $! deep (10000 + i) + length (show (e :: BlockedIndefinitelyOnMVar))
    atomicModifyIORef' done (\xs -> (x : xs, ()))
  yield
  collections
  readIORef vars >>= \vs -> mapM isEmptyMVar vs >>= print . and
  writeIORef vars []
  let wait = do
        xs <- readIORef done
        if length xs == threads then print (sum xs) else performMajorGC >> yield >> wait
  wait

main :: IO ()
main = do
  rest "putMVar" $ \i -> do
    v <- newEmptyMVar
    return (takeMVar v, \_ -> putMVar v i)
  rest "readMVar" $ \i -> do
    v <- newEmptyMVar
    return (readMVar v, \_ -> putMVar v i)
  rest "takeMVar" $ \i -> do
    v <- newMVar i
    return (putMVar v (i + 1) >> return i, \_ -> void (takeMVar v))
  rest "commit" $ \i -> do
    v <- newTVarIO 0
    return (atomically (readTVar v >>= \x -> if x == 0 then retry else return x), \_ -> atomically (writeTVar v i))
  rest "orElse" $ \i -> do
    v <- newTVarIO 0
    w <- newTVarIO 0
    let get x = readTVar x >>= \n -> check (n /= 0) >> return n
    return (atomically (get v `orElse` get w), \_ -> atomically (writeTVar w i))
  rest "throwTo" $ \i -> do
    v <- newEmptyMVar
    return (takeMVar v, \t -> throwTo t (Poke i) >> putMVar v i)
  rest "throwTo, handler at hand" $ \i -> do
    v <- newEmptyMVar
    return (takeMVar v `catch` (\(Poke k) -> return $! deep (10000 + k)), \t -> throwTo t (Poke i) >> putMVar v i)
  rest "throwTo, masked" $ \i -> do
    v <- newEmptyMVar
    w <- newEmptyMVar
    let wait = mask_ (uninterruptibleMask_ (takeMVar v) >> takeMVar w) `catch` (\(Poke k) -> return $! deep (10000 + k))
    return (wait, \t -> forkIO (throwTo t (Poke i)) >> yield >> putMVar v ())
  rest "throwTo, transaction" $ \i -> do
    v <- newTVarIO False
    return (atomically (readTVar v >>= check) >> return i, \t -> throwTo t (Poke i))
  rest "killThread" $ \_ -> do
    v <- newEmptyMVar
    return (takeMVar v, killThread)
  rest "thunk" $ \i -> do
    v <- newEmptyMVar
    x <- return $! Lazy (deep (15000 + i))
    return (takeMVar v >>= \() -> case x of Lazy n -> evaluate n, \_ -> putMVar v ())
  deadlock
  -- Those that have ended may be asked for their state as long as they are known, and those never woken are let be.
  v <- newEmptyMVar :: IO (MVar ())
  ts <- forM [1 .. threads] $ \i -> forkIO (when (odd i) (takeMVar v))
  yield
  collections
  mapM_ killThread ts
  print (sum [deep 50000, deep 100])

data Lazy = Lazy Int
