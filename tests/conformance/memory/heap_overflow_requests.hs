-- A request beyond the limit on the heap is a heap overflow at once, in whichever way it is made, for the thread that
-- made it; and the program goes on.
-- args: +RTS -M64m -RTS
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Bits
import qualified Data.ByteString as B
import Foreign.ForeignPtr
import GHC.Exts
import GHC.IO (IO (..))

data Bytes = Bytes (MutableByteArray# RealWorld)

-- Bytes, of which there are far more than the limit, and more than any machine has.
sizes :: [Int]
sizes = [100 * 2 ^ (20 :: Int), 10 ^ (12 :: Int), 10 ^ (15 :: Int), 2 ^ (60 :: Int), maxBound]

ways :: [(String, Int -> IO ())]
ways =
  [ ("newByteArray#", \(I# n) -> IO $ \s -> case newByteArray# n s of (# s', _ #) -> (# s', () #))
  , ("newPinnedByteArray#", \(I# n) -> IO $ \s -> case newPinnedByteArray# n s of (# s', _ #) -> (# s', () #))
  , ("newAlignedPinnedByteArray#", \(I# n) -> IO $ \s -> case newAlignedPinnedByteArray# n 64# s of (# s', _ #) -> (# s', () #))
  , ("newArray#", \n -> case n `div` 8 of I# k -> IO $ \s -> case newArray# k 'x' s of (# s', _ #) -> (# s', () #))
  , ("newSmallArray#", \n -> case n `div` 8 of I# k -> IO $ \s -> case newSmallArray# k 'x' s of (# s', _ #) -> (# s', () #))
  , ("newArrayArray#", \n -> case n `div` 8 of I# k -> IO $ \s -> case newArrayArray# k s of (# s', _ #) -> (# s', () #))
  , ("resizeMutableByteArray#", \(I# n) -> do
      Bytes small <- IO $ \s -> case newByteArray# 100# s of (# s', a #) -> (# s', Bytes a #)
      IO $ \s -> case resizeMutableByteArray# small n s of (# s', _ #) -> (# s', () #))
  , ("mallocForeignPtrBytes", \n -> void (mallocForeignPtrBytes n))
  , ("ByteString", \n -> void (evaluate (B.replicate n 7)))
  ]

attempt :: IO () -> IO String
attempt a = either (\e -> show (e :: AsyncException)) (const "granted") <$> try a

main :: IO ()
main = do
  forM_ ways $ \(name, ask) -> do
    said <- forM sizes (attempt . ask)
    putStrLn (name ++ ": " ++ show said)
  -- Small ones are granted in the same ways, again and again.
  forM_ ways $ \(name, ask) -> do
    said <- replicateM 30 (attempt (ask 3000000))
    putStrLn (name ++ ": " ++ show (all (== "granted") said))
  -- The thread that asks is told, and nobody else.
  told <- newEmptyMVar
  _ <- forkIO (attempt (void (evaluate (B.replicate (10 ^ (12 :: Int)) 1))) >>= putMVar told)
  takeMVar told >>= putStrLn
  -- A number of 2^40 bits.
  attempt (void (evaluate (popCount (1 `shiftL` (2 ^ (40 :: Int)) :: Integer)))) >>= putStrLn
