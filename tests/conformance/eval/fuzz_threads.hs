-- Random networks of threads that pass tokens through MVars, TVars, channels and thunks, while other threads kill, poke
-- and time them out, call them back from C, spark, collect, and change the number of HECs: arguments are the first and
-- the last seed and the steps for each thread. Tokens are never lost or doubled, whatever the schedule; what is printed
-- does not depend on it.
-- ghc: -O -threaded
-- args: 1 4 30
{-# LANGUAGE BangPatterns, InterruptibleFFI, RankNTypes #-}
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Bits
import Data.IORef
import qualified Data.Map as M
import Data.Word
import Foreign hiding (void)
import Foreign.C.Types
import GHC.Conc (numCapabilities, par, pseq)
import GHC.IO (unsafeUnmask)
import System.Environment
import System.Exit
import System.IO.Unsafe
import System.Mem
import System.Mem.Weak
import System.Timeout

foreign import ccall safe "stdlib.h qsort" qsort :: Ptr CInt -> CSize -> CSize -> FunPtr (Ptr CInt -> Ptr CInt -> IO CInt) -> IO ()
foreign import ccall "wrapper" comparison :: (Ptr CInt -> Ptr CInt -> IO CInt) -> IO (FunPtr (Ptr CInt -> Ptr CInt -> IO CInt))
foreign import ccall interruptible "unistd.h usleep" usleep :: CUInt -> IO CInt

data Poke = Poke deriving Show
instance Exception Poke

-- Random numbers, a sequence for each thread.
newtype Rng = Rng (IORef Word64)

newRng :: Int -> IO Rng
newRng seed = Rng <$> newIORef (fromIntegral seed * 0x9E3779B97F4A7C15 + 12345)

rnd :: Rng -> Int -> IO Int
rnd (Rng r) n = do
  s <- readIORef r
  let !s' = s + 0x9E3779B97F4A7C15
      a = (s' `xor` (s' `shiftR` 30)) * 0xBF58476D1CE4E5B9
      b = (a `xor` (a `shiftR` 27)) * 0x94D049BB133111EB
  writeIORef r s'
  pure $! fromIntegral ((b `xor` (b `shiftR` 31)) `shiftR` 8) `mod` n

wrong :: String -> IO a
wrong s = putStrLn ("WRONG " ++ s) >> exitWith (ExitFailure 1)

-- Places where tokens are: each holds a number, and the sum of all is constant whenever nobody is at work.
data Net = Net
  { mvars :: [MVar Int], tvars :: [TVar Int], refs :: [IORef Int], chans :: [Chan Int], queue :: TVar [Int], gate :: MVar ()
  , shared :: [IORef (Int, Integer)], semaphore :: QSem, open :: IORef Int }

choose :: Rng -> [a] -> IO a
choose g xs = (xs !!) <$> rnd g (length xs)

fib :: Int -> Integer
fib n = if n < 2 then toInteger n else fib (n - 1) + fib (n - 2)
{-# NOINLINE fib #-}

-- The same, in parallel, with little sparks.
pfib :: Int -> Integer
pfib n | n < 6 = fib n
       | otherwise = let a = pfib (n - 1); b = pfib (n - 2) in a `par` (b `pseq` (a + b))

-- As fib, through a lazy table: thunks that refer to each other.
table :: Int -> Integer
table n = t M.! n
 where
  t = M.fromList [ (i, if i < 2 then toInteger i else t M.! (i - 1) + t M.! (i - 2)) | i <- [0 .. n] ]
{-# NOINLINE table #-}

-- What a thread does once: moves tokens about so that either all of it or nothing happens, even if it is stopped
-- anywhere.
act :: Net -> Rng -> Int -> IO ()
act net g depth = do
  c <- rnd g 26
  k <- rnd g 5
  case c of
    -- From an MVar to another one; the lower one first, so that nobody waits in a circle.
    0 -> twoOf (mvars net) $ \a b -> mask_ $ modifyMVar_ a $ \x -> modifyMVar b (\y -> let !y' = y + k in pure (y', x - k))
    1 -> twoOf (mvars net) $ \a b -> mask $ \restore -> do
      x <- takeMVar a
      y <- takeMVar b `onException` putMVar a x
      restore yield `onException` (putMVar a x >> putMVar b y)
      putMVar a (x + k)
      putMVar b (y - k)
    2 -> do
      a <- choose g (tvars net)
      b <- choose g (tvars net)
      atomically $ do
        x <- readTVar a
        writeTVar a (x - k)
        y <- readTVar b
        writeTVar b (y + k)
    3 -> do
      a <- choose g (tvars net)
      b <- choose g (tvars net)
      atomically $ (do x <- readTVar a
                       when (x < k) retry
                       writeTVar a $! x - k
                       modifyTVar' b (+ k))
        `orElse` (readTVar b >>= \y -> if even y then throwSTM Poke else modifyTVar b (+ 1) >> modifyTVar a (subtract 1))
        `catchSTM` \Poke -> modifyTVar a (+ k) >> modifyTVar b (subtract k)
    -- The sum of all variables is what it always is, in the midst of everything.
    4 -> do
      vs <- atomically ((,) <$> mapM readTVar (tvars net) <*> (sum <$> readTVar (queue net)))
      when (sum (fst vs) + snd vs /= tvarTokens) $ wrong ("variables hold " ++ show vs)
    5 -> atomically (readTVar (queue net) >>= \q -> case q of
           [] -> retry
           x : xs -> writeTVar (queue net) (xs ++ [x]))
    6 -> do
      a <- choose g (tvars net)
      atomically (modifyTVar' a (subtract k) >> modifyTVar (queue net) (k :))
      mask_ $ do
        b <- choose g (tvars net)
        atomically (readTVar (queue net) >>= \q -> case q of
          x : xs@(_ : _) -> writeTVar (queue net) xs >> modifyTVar' b (+ x)
          _ -> pure ())
    7 -> do
      r <- choose g (refs net)
      replicateM_ 25 $ mask_ $ atomicModifyIORef' r (\x -> (x + k, ())) >> atomicModifyIORef' (last (refs net)) (\x -> (x - k, ()))
    8 -> do
      r <- choose g (refs net)
      mask_ $ atomicModifyIORef r (\x -> (x - k, ())) >> atomicModifyIORef (head (refs net)) (\x -> (x + k, ()))
    -- One out of a channel and into another one: channels are never all empty for long.
    9 -> do
      a <- choose g (chans net)
      mask_ $ modifyMVar_ (gate net) $ \() -> writeChan a =<< readChan a
    10 -> do
      a <- choose g (chans net)
      b <- choose g (chans net)
      mask_ $ withMVar (gate net) $ \() -> do
        x <- readChan a
        writeChan b x
        y <- readChan b
        writeChan a y
    11 -> bracket_ (waitQSem (semaphore net)) (signalQSem (semaphore net)) yield
    12 -> bracket_ (atomicModifyIORef' (open net) (\n -> (n + 1, ()))) (atomicModifyIORef' (open net) (\n -> (n - 1, ()))) $
      void (timeout 300 (evaluate (fib (12 + k))))
    -- What many evaluate, and some are stopped at.
    13 -> sharedValue
    14 -> sharedValue
    15 -> do
      n <- (10 +) <$> rnd g 6
      let x = pfib n
      when (x /= fib n) $ wrong "sparks"
    16 -> do
      r <- choose g (shared net)
      n <- (8 +) <$> rnd g 12
      writeIORef r (n, if odd k then table n else unsafePerformIO (yield >> pure (pfib n)))
    17 -> sorted
    18 -> performMinorGC
    19 -> when (k == 0) performMajorGC
    20 -> threadDelay (k * 30)
    21 -> do
      n <- rnd g 100
      r <- timeout (n * 3) (evaluate (fib 14) >> threadDelay 20 >> pure 'x')
      when (r `notElem` [Nothing, Just 'x']) $ wrong "timeout"
    22 | depth < 2 -> child
    23 -> do
      key <- newIORef k
      p <- mkWeakIORef key (pure ())
      yield
      alive <- deRefWeak p
      x <- readIORef key
      when (maybe True (const False) alive || x /= k) $ wrong "weak pointer"
    24 -> void (usleep (fromIntegral k * 10))
    25 -> getMaskingState >>= \s -> do
      ss <- mask $ \restore -> (,) <$> getMaskingState <*> restore getMaskingState
      when (ss /= (if s == Unmasked then MaskedInterruptible else s, s)) $ wrong "masking state"
    _ -> yield
 where
  twoOf xs f = do
    i <- rnd g (length xs - 1)
    j <- rnd g (length xs - 1 - i)
    f (xs !! i) (xs !! (i + 1 + j))
  sharedValue = do
    r <- choose g (shared net)
    (n, x) <- readIORef r
    when (x /= fibs !! n) $ wrong "shared value"
  -- C calls back into Haskell, and that may call C again.
  sorted = do
    xs <- replicateM 12 (fromIntegral <$> rnd g 1000)
    mask_ $ bracket (comparison compareAt) freeHaskellFunPtr $ \f -> withArray xs $ \p -> do
      qsort p 12 4 f
      ys <- peekArray 12 p
      when (ys /= foldr insertOrdered [] xs) $ wrong "sorted"
  compareAt p q = do
    a <- peek p
    b <- peek q
    when (a .&. 15 == 0) yield
    when (a .&. 63 == 1) performMinorGC
    when (a .&. 31 == 2) $ void (forkIO (pure ())) >> threadDelay 1
    pure (fromIntegral (fromEnum (compare a b)) - 1)
  insertOrdered x ys = takeWhile (< x) ys ++ x : dropWhile (< x) ys
  -- A thread of its own, waited for, and stopped at times.
  child = do
    done <- newEmptyMVar
    seed <- rnd g 1000000
    how <- rnd g 4
    n <- rnd g 4
    stop <- rnd g 2
    mask $ \restore -> do
      t <- forkAs how $ \unmask -> do
        g' <- newRng seed
        r <- try (unmask (replicateM_ n (act net g' (depth + 1))))
        putMVar done (r :: Either SomeException ())
      let end = uninterruptibleMask_ (throwTo t Poke >> takeMVar done)
      when (stop == 0) $ restore yield `onException` end
      r <- if stop == 0 then end else takeMVar done `onException` end
      case r of
        Left e | Just Poke <- fromException e -> pure ()
               | otherwise -> throwIO e
        Right () -> pure ()

fibs :: [Integer]
fibs = 0 : 1 : zipWith (+) fibs (drop 1 fibs)

-- A thread of some kind, begun with exceptions masked; its creator is not interrupted meanwhile.
forkAs :: Int -> ((forall a. IO a -> IO a) -> IO ()) -> IO ThreadId
forkAs how body = uninterruptibleMask_ $ case how of
  0 | rtsSupportsBoundThreads -> forkOS (body unsafeUnmask)
  1 -> forkOnWithUnmask 1 body
  2 -> forkOnWithUnmask 3 body
  _ -> forkIOWithUnmask body

tvarTokens, perPlace :: Int
tvarTokens = 5 * perPlace
perPlace = 100

run :: Int -> Int -> IO ()
run seed steps = do
  g <- newRng seed
  workersN <- (3 +) <$> rnd g 5
  net <- Net <$> replicateM 4 (newMVar perPlace) <*> replicateM 5 (newTVarIO perPlace) <*> replicateM 3 (newIORef perPlace)
    <*> replicateM 2 (newChan) <*> newTVarIO [0, 0] <*> newMVar () <*> replicateM 3 (newIORef (10, fib 10)) <*> newQSem 2 <*> newIORef 0
  forM_ (chans net) $ \c -> mapM_ (writeChan c) [1 .. 5]
  ended <- newIORef False
  workers <- forM [1 .. workersN] $ \i -> do
    done <- newEmptyMVar
    how <- rnd g 5
    t <- forkAs how $ \unmask -> do
      g' <- newRng (seed * 1000 + i)
      let loop :: Int -> IO (Either SomeException ())
          loop 0 = pure (Right ())
          loop n = do
            r <- try (unmask (replicateM_ 3 (act net g' 0)))
            case r of
              Left e | Just Poke <- fromException e -> loop (n - 1)
                     | otherwise -> pure (Left e)
              Right () -> loop (n - 1)
      loop (steps `div` 3) >>= putMVar done
    pure (t, done)
  -- Threads that disturb the others.
  pokers <- forM [1 .. 2 :: Int] $ \i -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      g' <- newRng (seed * 77 + i)
      let loop = readIORef ended >>= \e -> unless e $ do
            (t, _) <- choose g' workers
            c <- rnd g' 40
            n <- rnd g' 4
            case c of
              0 -> when (i == 1) $ setNumCapabilities (1 + n)
              1 -> performMinorGC
              2 -> threadDelay 200
              _ | c < 8 -> void (forkIO (throwTo t Poke))
              _ -> throwTo t Poke
            replicateM_ n yield
            threadDelay (n * 10)
            loop
      loop `finally` putMVar done ()
    pure done
  rs <- mapM (takeMVar . snd) workers
  writeIORef ended True
  mapM_ takeMVar pokers
  setNumCapabilities numCapabilities
  forM_ rs $ either (\e -> wrong ("a thread ended with " ++ show e)) pure
  ms <- mapM takeMVar (mvars net)
  ts <- atomically ((+) <$> (sum <$> mapM readTVar (tvars net)) <*> (sum <$> readTVar (queue net)))
  is <- mapM readIORef (refs net)
  takeMVar (gate net)
  cs <- forM (chans net) $ \c -> replicateM 5 (readChan c)
  o <- readIORef (open net)
  waitQSem (semaphore net) >> waitQSem (semaphore net)
  vs <- forM (shared net) $ \r -> readIORef r >>= \(n, x) -> pure (x == fibs !! n)
  putStrLn (unwords ["seed", show seed, "threads", show workersN, "mvars", show (sum ms), "tvars", show ts, "refs", show (sum is)
    , "chans", show (sum (concat cs)), "open", show o, show (and vs)])

main :: IO ()
main = do
  args <- getArgs
  case map read args of
    [from, to, steps] -> forM_ [from .. to] (`run` steps)
    _ -> wrong "arguments"
