-- Weak pointers by their primitive operations, in odd orders: C finalizers before and after death, with environments;
-- weak pointers to weak pointers; static keys; finalizers that revive their key, throw, or make the next weak pointer;
-- what is left at the end.
-- ghc: -O0
-- c: weak_primops_c.c
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import GHC.Weak
import Control.Exception
import Control.Monad
import Control.Concurrent
import Data.IORef
import Foreign
import System.Mem
import System.IO

foreign import ccall "&fin1" fin1 :: FunPtr (Ptr Int -> IO ())
foreign import ccall "&fin2" fin2 :: FunPtr (Ptr Int -> Ptr Int -> IO ())

mkW :: k -> v -> IO () -> IO (Weak v)
mkW k v (IO f) = IO $ \s -> case mkWeak# k v f s of (# s', w #) -> (# s', Weak w #)
mkN :: k -> v -> IO (Weak v)
mkN k v = IO $ \s -> case mkWeakNoFinalizer# k v s of (# s', w #) -> (# s', Weak w #)
addC :: Weak v -> Int -> Maybe Int -> IO Bool
addC (Weak w) a e = IO $ \s -> case (fin1, fin2, intPtr a) of
  (FunPtr f1, FunPtr f2, Ptr p) -> case e of
    Nothing -> case addCFinalizerToWeak# f1 p 0# nullAddr# w s of (# s', b #) -> (# s', isTrue# b #)
    Just x -> case intPtr x of Ptr q -> case addCFinalizerToWeak# f2 p 1# q w s of (# s', b #) -> (# s', isTrue# b #)
intPtr :: Int -> Ptr Int
intPtr n = nullPtr `plusPtr` n
fin :: Weak v -> IO (Maybe Bool)
fin (Weak w) = IO $ \s -> case finalizeWeak# w s of
  (# s', 0#, _ #) -> (# s', Nothing #)
  (# s', _, f #) -> case f s' of (# s'', _ #) -> (# s'', Just True #)

-- Waits until a finalizer has done something, which a loaded machine may keep it from for long.
soon :: IO Bool -> IO ()
soon isDone = go (20000 :: Int)
  where go n = isDone >>= \d -> unless (d || n == 0) (threadDelay 1000 >> go (n - 1))

main :: IO ()
main = do
  hSetBuffering stdout NoBuffering
  ended <- newIORef (0 :: Int)
  let end = modifyIORef' ended (+ 1)
      ends n = soon ((== n) <$> readIORef ended)
  k <- newIORef 'k'
  w <- mkW k "v" (putStrLn "hs fin")
  addC w 1 Nothing >>= print
  addC w 2 (Just 20) >>= print
  addC w 3 Nothing >>= print
  deRefWeak w >>= print
  fin w >>= print
  fin w >>= print
  deRefWeak w >>= print
  addC w 4 Nothing >>= print
  finalize w
  w <- mkN k "n"
  addC w 5 Nothing >>= print
  finalize w
  deRefWeak w >>= print
  -- a weak to a weak, key itself a weak, key its own value
  k2 <- newIORef 'a'
  wa <- mkN k2 "inner"
  wb <- mkN wa "outer"
  deRefWeak wb >>= print
  fin wa >>= print
  performMajorGC
  deRefWeak wb >>= print
  -- static keys
  ws <- mkW main "static" (putStrLn "never?")
  wi <- mkW (1 :: Int) "int" (return ())
  wc <- mkW 'c' "chr" (return ())
  wn <- mkW () "unit" (return ())
  performMajorGC; performMajorGC
  mapM deRefWeak [ws, wi, wc, wn] >>= print
  -- value keeps key alive?  No: dies
  k3 <- newIORef 'z'
  w3 <- mkW k3 (readIORef k3) (putStrLn "k3 died" >> end)
  readIORef k3 >>= print
  performMajorGC; ends 1
  r <- deRefWeak w3
  print (maybe False (const True) r)
  -- finalizer resurrects its key
  box <- newIORef Nothing
  k4 <- newIORef 'q'
  w4 <- mkW k4 () (writeIORef box (Just k4) >> end)
  performMajorGC; ends 2
  readIORef box >>= maybe (putStrLn "no") (readIORef >=> print)
  deRefWeak w4 >>= print
  -- a finalizer that throws does not stop the others, on finalize it propagates
  k5 <- newIORef 'r'
  w5 <- mkW k5 () (throwIO (ErrorCall "in finalizer"))
  r <- try (finalize w5)
  print (either (\(ErrorCall m) -> m) show r)
  finalize w5
  done <- newIORef (0 :: Int)
  forM_ [1 .. 20 :: Int] $ \i -> do
    k <- newIORef i
    mkW k () (if even i then throwIO (ErrorCall "x") else modifyIORef done (+ 1))
  performMajorGC; soon ((== 10) <$> readIORef done)
  readIORef done >>= print
  -- masking state and thread of a finalizer run by finalize
  k7 <- newIORef 't'
  w7 <- mkW k7 () (getMaskingState >>= print)
  finalize w7
  readIORef k7 >>= print
  k8 <- newIORef 'u'
  _ <- mkW k8 () (getMaskingState >>= print >> end)
  readIORef k8 >>= print
  performMajorGC; ends 3
  -- finalizer makes another weak that dies too
  let chain :: Int -> IO ()
      chain 0 = putStrLn "chain ends" >> end
      chain n = do k <- newIORef n; _ <- mkW k () (performMajorGC >> chain (n - 1)); return ()
  chain 4
  soon (performMajorGC >> (== 4) <$> readIORef ended)
  k9 <- newIORef 'e'
  w9 <- mkW k9 () (putStrLn "haskell at exit")
  addC w9 99 Nothing
  addC w9 98 (Just 97)
  readIORef k9 >>= print
  putStrLn "end"
