-- Several C finalizers on one foreign pointer run in the reverse order of adding; with environment; finalizeForeignPtr
-- runs them now.
-- c: weak_foreign_order_c.c
import Control.Concurrent
import Control.Monad
import Foreign
import System.Mem

foreign import ccall "&fin_a" finA :: FunPtr (Ptr () -> IO ())
foreign import ccall "&fin_b" finB :: FunPtr (Ptr () -> IO ())
foreign import ccall "&fin_env" finEnv :: FunPtr (Ptr Int -> Ptr () -> IO ())
foreign import ccall "trace_length" traceLength :: IO Int
foreign import ccall "trace_at" traceAt :: Int -> IO Int

dump :: IO ()
dump = do
  n <- traceLength
  mapM traceAt [0 .. n - 1] >>= print

main :: IO ()
main = do
  p <- mallocBytes 16 :: IO (Ptr ())
  env <- new (77 :: Int)
  fp <- newForeignPtr finA p
  addForeignPtrFinalizer finB fp
  addForeignPtrFinalizerEnv finEnv env fp
  addForeignPtrFinalizer finA fp
  finalizeForeignPtr fp
  dump
  finalizeForeignPtr fp
  dump
  -- By the collector.
  forM_ [1 .. 20 :: Int] $ \_ -> do
    q <- mallocForeignPtrBytes 32 :: IO (ForeignPtr ())
    addForeignPtrFinalizer finB q
    withForeignPtr q (\_ -> return ())
  let wait k = do
        performMajorGC
        n <- traceLength
        when (n < 24 && k > (0 :: Int)) (threadDelay 1000 >> wait (k - 1))
  wait 200
  traceLength >>= print
  -- A plain foreign pointer without finalizers.
  r <- newForeignPtr_ p
  withForeignPtr (castForeignPtr r) (\x -> poke x (5 :: Int) >> peek x) >>= print
  withForeignPtr (plusForeignPtr r 8) (\x -> print (x `minusPtr` p))
