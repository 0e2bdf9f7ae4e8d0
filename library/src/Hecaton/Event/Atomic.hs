{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- | Atomic words and stacks, none of which leaves a thunk behind.
--
-- 'Data.IORef.atomicModifyIORef' stores a thunk in the variable. Where many threads modify one variable, such thunks
-- form chains that survive collections, and threads block on them in turn (sections 8.2 and 8.3 of the paper on
-- scalable event handling). Here a new value is complete before one compare-and-swap publishes it.
--
-- Every operation of this module is a full memory barrier, but for 'peek'.
module Hecaton.Event.Atomic
  ( -- * Words
    Words,
    newWords,
    get,
    peek,
    set,
    swapIf,
    add,

    -- * Stacks
    Stack,
    newStack,
    push,
    takeAll,
    isEmpty,
  )
where

import GHC.Exts
import GHC.IO (IO (..))
import GHC.IORef (IORef (..), newIORef, readIORef)
import GHC.STRef (STRef (..))

-- | Some words of memory, numbered from 0.
data Words = Words (MutableByteArray# RealWorld)

-- | That many words, all of them 0.
newWords :: Int -> IO Words
newWords (I# n) = IO $ \s0 -> case newByteArray# (n *# 8#) s0 of
  (# s1, array #) -> case setByteArray# array 0# (n *# 8#) 0# s1 of
    s2 -> (# s2, Words array #)

get :: Words -> Int -> IO Int
get (Words array) (I# i) = IO $ \s0 -> case atomicReadIntArray# array i s0 of
  (# s1, n #) -> (# s1, I# n #)
{-# INLINE get #-}

-- | Reads a word without a barrier.
peek :: Words -> Int -> IO Int
peek (Words array) (I# i) = IO $ \s0 -> case readIntArray# array i s0 of
  (# s1, n #) -> (# s1, I# n #)
{-# INLINE peek #-}

set :: Words -> Int -> Int -> IO ()
set (Words array) (I# i) (I# n) = IO $ \s0 -> case atomicWriteIntArray# array i n s0 of
  s1 -> (# s1, () #)
{-# INLINE set #-}

-- | Stores the second value if the word holds the first, and says whether it did.
swapIf :: Words -> Int -> Int -> Int -> IO Bool
swapIf (Words array) (I# i) (I# old) (I# new) = IO $ \s0 -> case casIntArray# array i old new s0 of
  (# s1, found #) -> (# s1, isTrue# (found ==# old) #)
{-# INLINE swapIf #-}

-- | Adds to a word, and returns the sum.
add :: Words -> Int -> Int -> IO Int
add (Words array) (I# i) (I# n) = IO $ \s0 -> case fetchAddIntArray# array i n s0 of
  (# s1, old #) -> (# s1, I# (old +# n) #)
{-# INLINE add #-}

-- | A list to which any thread adds.
newtype Stack a = Stack (IORef [a])

newStack :: IO (Stack a)
newStack = Stack <$> newIORef []

-- | Adds a value, which is evaluated first.
push :: Stack a -> a -> IO ()
push stack !x = update stack (x :)

-- | Empties the stack. The latest value comes first.
takeAll :: Stack a -> IO [a]
takeAll stack@(Stack ref) = do
  -- Without the check each call would write to the variable, which costs more than reading.
  empty <- isEmpty stack
  if empty then pure [] else readAndClear ref

isEmpty :: Stack a -> IO Bool
isEmpty (Stack ref) = null <$> readIORef ref
{-# INLINE isEmpty #-}

-- Note [Compare and swap of pointers]: the comparison is of addresses, with their tag bits. So the old value must be
-- passed on just as it was read. These two functions never evaluate it; the compiler could otherwise replace it by its
-- evaluated form, which may have another tag, and the loop would not end.

update :: Stack a -> ([a] -> [a]) -> IO ()
update (Stack (IORef (STRef var))) f = IO loop
  where
    loop s0 = case readMutVar# var s0 of
      (# s1, old #) -> case f old of
        !new -> case casMutVar# var old new s1 of
          (# s2, 0#, _ #) -> (# s2, () #)
          (# s2, _, _ #) -> loop s2
{-# INLINE update #-}

{-# NOINLINE readAndClear #-}
readAndClear :: IORef [a] -> IO [a]
readAndClear (IORef (STRef var)) = IO loop
  where
    loop s0 = case readMutVar# var s0 of
      (# s1, old #) -> case casMutVar# var old [] s1 of
        (# s2, 0#, _ #) -> (# s2, old #)
        (# s2, _, _ #) -> loop s2
