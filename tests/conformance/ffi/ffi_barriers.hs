-- stg/SMP.h: the inline functions of the headers are functions of the library as well, for foreign imports: barriers
-- and atomic operations.
-- ghc: -O -threaded
-- c: ffi_barriers_c.c
-- args: +RTS -N2
{-# LANGUAGE ScopedTypeVariables #-}
import Control.Concurrent
import Control.Monad
import Data.Word
import Foreign

foreign import ccall unsafe "store_load_barrier" storeLoad :: IO ()
foreign import ccall unsafe "load_load_barrier" loadLoad :: IO ()
foreign import ccall unsafe "write_barrier" writeBarrier :: IO ()
foreign import ccall unsafe "busy_wait_nop" busyWait :: IO ()
foreign import ccall unsafe "cas" cas :: Ptr Word -> Word -> Word -> IO Word
foreign import ccall unsafe "cas_word8" casWord8 :: Ptr Word8 -> Word8 -> Word8 -> IO Word8
foreign import ccall unsafe "xchg" xchg :: Ptr Word -> Word -> IO Word
foreign import ccall unsafe "atomic_inc" atomicInc :: Ptr Word -> Word -> IO Word
foreign import ccall unsafe "atomic_dec" atomicDec :: Ptr Word -> IO Word
foreign import ccall safe "both_saw_nothing" bothSawNothing :: Int -> IO Int
foreign import ccall safe "torn_messages" tornMessages :: Int -> IO Int
foreign import ccall safe "spin_locked_sum" spinLockedSum :: Int -> IO Int

main :: IO ()
main = do
  busyWait
  alloca $ \p -> do
    poke p 5
    answers <- sequence [cas p 4 9, cas p 5 9, xchg p 20, atomicInc p 3, atomicDec p]
    now <- peek p
    print (answers, now)
  allocaArray 3 $ \(p :: Ptr Word8) -> do
    pokeArray p [1, 2, 3]
    answers <- sequence [casWord8 (p `plusPtr` 1) 9 7, casWord8 (p `plusPtr` 1) 2 7]
    now <- peekArray 3 p
    print (answers, now)
  -- None is lost among several OS threads.
  alloca $ \p -> do
    poke p 0
    together 4 $ \n -> forM_ [1 .. 20000] $ \_ ->
      if even n then atomicInc p 3 else atomicDec p
    peek p >>= print
    poke p 0
    together 4 $ \_ -> forM_ [1 .. 5000 :: Int] $ \_ ->
      let add = do { old <- peek p; seen <- cas p old (old + 1); unless (seen == old) add } in add
    peek p >>= print
  -- Of two that say something and then listen, one hears the other; a thread that sees the news sees the data too.
  bothSawNothing 20000 >>= print
  tornMessages 20000 >>= print
  storeLoad >> loadLoad >> writeBarrier
  spinLockedSum 20000 >>= print

together :: Int -> (Int -> IO a) -> IO ()
together n f = do
  done <- newEmptyMVar
  forM_ [1 .. n] $ \i -> forkOn i (f i >> putMVar done ())
  replicateM_ n (takeMVar done)
