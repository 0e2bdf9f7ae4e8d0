-- What calls and reads cost, here and at another processing element, beside the round trips of messages of about their
-- size. Prints a line for each: its name, and microseconds. Figures below a microsecond are means, others medians.
-- Arguments: how many calls; how many values are read.
-- ghc: -O -threaded
-- needs: hecaton
{-# LANGUAGE BangPatterns, MagicHash, UnboxedTuples #-}

import Control.Exception
import Control.Monad
import Data.Array
import Data.Array.Base (unsafeAt)
import qualified Data.IntSet as S
import Data.List
import GHC.Exts (Int (..), addr2Int#, anyToAddr#)
import GHC.IO (IO (..))
import Hecaton.Cluster
import Ping
import System.Environment
import System.Mem

-- A value: 1 KB. Shared integers would travel as addresses; these are others.
value :: Int -> [Int]
value k = [1000000 + k .. 1000024 + k]

-- Evaluated values, without indirections.
values :: Int -> IO (Array Int [Int])
values n = do
  let all = listArray (0, n - 1) (map value [0 .. n - 1])
  _ <- evaluate (sum (fmap sum all))
  performGC
  return all

-- One long list, as these.
list :: Int -> IO [Int]
list n = do
  let xs = map (+ 1000000) [1 .. n]
  _ <- evaluate (sum xs)
  performGC
  return xs

-- Memory for the objects of other processing elements is mapped in pieces of this size, in bytes.
pieceSize :: Int
pieceSize = 4 * 1024 * 1024

-- The piece in which an evaluated value lies.
piece :: a -> IO Int
piece !a = IO (\s -> case anyToAddr# a s of (# t, addr #) -> (# t, I# (addr2Int# addr) `div` pieceSize #))

-- A call, from and to a function that ghc does not see.
call :: Int -> IO Int
call k = return k
{-# NOINLINE call #-}

row :: String -> Double -> IO ()
row name micros = putStrLn (name ++ "\t" ++ show micros)

-- The median of `times` runs, after a tenth as many that are not measured.
each :: Int -> IO a -> IO Double
each times act = do
  replicateM_ (times `div` 10) act
  median . map fst <$> replicateM times (timed act)

-- The mean of `times` times `size`. The action gets a number, always another one, so that it is not done once for all.
mean :: Int -> Int -> (Int -> IO ()) -> IO Double
mean times size act = do
  act 0
  (micros, ()) <- timed (mapM_ act [1 .. times])
  return (micros / fromIntegral (times * size))

main :: IO ()
main = do
  [calls, count] <- map read <$> getArgs
  me <- myPE
  forM_ [128, 1024] $ \size -> do
    each (calls `div` 10) (transport size 10) >>= row ("round trip of " ++ show size ++ ", transport") . (/ 10)
    each calls (hecs size) >>= row ("round trip of " ++ show size ++ ", HECs")
  let go :: Int -> Int -> IO ()
      go 0 !_ = return ()
      go n k = call k >>= go (n - 1)
  mean calls 1000 (go 1000) >>= row "local call"
  each calls (remoteOn me (pure ()) >>= await) >>= row "local call in a thread"
  each calls (remoteOn (PE 1) (pure ()) >>= await) >>= row "remote call"
  here <- values count
  there <- remoteOn (PE 1) (values count) >>= await >>= evaluate
  let readOne (seen, first, later) k = do
        (micros, x) <- timed (evaluate (unsafeAt there k))
        p <- piece x
        return $! if S.member p seen then (seen, first, micros : later) else (S.insert p seen, micros : first, later)
  (_, first, later) <- foldM readOne (S.empty, [], []) [0 .. count - 1]
  row "remote read, memory not mapped" (median first)
  row "remote read, memory mapped" (median later)
  let few = min 1000 count
      total :: Array Int [Int] -> Int -> Int -> Int
      total !a k !acc = if k == few then acc else case unsafeAt a k of x : _ -> total a (k + 1) (acc + x); [] -> acc
      reads a = mean calls few (void . evaluate . total a 0)
  reads here >>= row "local read"
  reads there >>= row "cached read"
  let cells = 10000
      walk xs = mean (calls `div` 10) cells (\k -> void (evaluate (foldl' (+) k xs)))
  list cells >>= walk >>= row "local read of a cell in a list"
  far <- remoteOn (PE 1) (list cells) >>= await
  (micros, _) <- timed (evaluate (foldl' (+) 0 far))
  row "remote read of a cell in a list" (micros / fromIntegral cells)
  walk far >>= row "cached read of a cell in a list"
