-- How fast values are packed for other processing elements, and installed there. Prints a line for each value: its
-- name, the bytes of its packet, and millions of bytes packed, and installed, in a second. Arguments: how often each is
-- measured, of which the median counts; and the size of the values.
-- ghc: -O -threaded
{-# LANGUAGE BangPatterns #-}

import Control.Exception
import Control.Monad
import Data.Array
import Data.List
import qualified Data.Map as M
import qualified Data.Text as T
import Data.Word
import Foreign.C.Types
import Foreign.Marshal.Array
import Foreign.Ptr
import Foreign.StablePtr
import System.Environment

foreign import ccall unsafe "hec_measure_packing" c_measure :: StablePtr a -> CSize -> Ptr Word64 -> IO CBool

data Tree = Leaf | Node Tree !Int Tree

tree :: Int -> Int -> Tree
tree a b
  | a > b = Leaf
  | otherwise = let !m = (a + b) `div` 2; !l = tree a (m - 1); !r = tree (m + 1) b in Node l m r

-- Shared integers travel as addresses. These are others.
large :: Int -> Int
large k = k + 1000000

measure :: Int -> String -> (a -> Int) -> a -> IO ()
measure times name size value = do
  _ <- evaluate (size value)
  figures <- replicateM times $ do
    pointer <- newStablePtr value
    measured <- allocaArray 3 $ \p -> c_measure pointer (1000 * 1000 * 1000) p >> peekArray 3 p
    freeStablePtr pointer
    return measured
  let bytes = head (head figures)
      rate k = fromIntegral bytes * 1000 / fromIntegral (sort (map (!! k) figures) !! (times `div` 2)) :: Double
  putStrLn (intercalate "\t" [name, show bytes, show (rate 1), show (rate 2)])

main :: IO ()
main = do
  [times, n] <- map read <$> getArgs
  let few = n `div` 10
      run name = measure times (name ++ " of " ++ show n)
      runFew name = measure times (name ++ " of " ++ show few)
  run "list" sum [large k | k <- [1 .. n]]
  runFew "Map" sum (M.fromList [(large k, large k) | k <- [1 .. few]])
  runFew "list of Text" (sum . map T.length) [T.pack (show (large k)) | k <- [1 .. few]]
  run "tree" (\(Node _ k _) -> k) (tree 1 n)
  run "array" sum (listArray (1, n) (map large [1 .. n]))
