-- Regions taken out as bytes and made again elsewhere (GHC.Compact.Serialized): data of many shapes, shared and cyclic;
-- what was made can be added to and taken out again.
import Control.Monad
import Data.Array
import Data.Array.Unboxed (UArray)
import qualified Data.Array.Unboxed as U
import qualified Data.ByteString as B
import qualified Data.Map as M
import Foreign.Ptr
import GHC.Compact
import GHC.Compact.Serialized
import System.Mem

takenOut :: Compact a -> IO (SerializedCompact a, [B.ByteString])
takenOut c = withSerializedCompact c $ \sc -> do
  blocks <- forM (serializedCompactBlockList sc) $ \(p, n) -> B.packCStringLen (castPtr p, fromIntegral n)
  return (sc, blocks)

again :: Compact a -> IO (Compact a)
again c = do
  (sc, blocks) <- takenOut c
  r <- importCompactByteStrings sc blocks
  performMajorGC
  maybe (fail "refused") return r

roundTrip :: Eq a => String -> a -> IO ()
roundTrip what x = forM_ [compact, compactWithSharing] $ \make -> do
  c <- make x
  c1 <- again c
  inside <- inCompact c1 (getCompact c1)
  sizes <- mapM compactSize [c, c1]
  c2 <- compactAdd c1 (getCompact c1, x)
  performMajorGC
  c3 <- again c2
  print (what, getCompact c1 == x, inside, all (> 0) sizes, getCompact c2 == (x, x), getCompact c3 == (x, x))

data Rose = Rose Int [Rose]

walk :: Int -> Rose -> Int
walk 0 (Rose a _) = a
walk n (Rose a rs) = a + sum (map (walk (n - 1)) (take 2 rs))

main :: IO ()
main = do
  roundTrip "unit" ()
  roundTrip "list" [1 .. 3000 :: Int]
  roundTrip "static and shared" (replicate 300 (Just "shared", [True, False], 'x'))
  roundTrip "integers" [2 ^ (i * 13) :: Integer | i <- [0 .. 200 :: Int]]
  roundTrip "map" (M.fromList [(show i, i) | i <- [1 .. 500 :: Int]])
  roundTrip "array" (listArray (0, 2999) [show i | i <- [0 .. 2999 :: Int]] :: Array Int String)
  roundTrip "no elements" (listArray (0, -1) [] :: Array Int Int)
  roundTrip "bytes" (U.listArray (0, 4999) [0 ..] :: UArray Int Int)
  let rose = a where { a = Rose 1 [b, a, b]; b = Rose 2 [a, a, b] }
  c <- compactWithSharing rose >>= again
  print (walk 6 (getCompact c) == walk 6 rose)
  forM_ [1 .. 30 :: Int] $ \i -> do
    c <- compact [1 .. i * 50] >>= again
    unless (sum (getCompact c) == sum [1 .. i * 50]) $ print i
