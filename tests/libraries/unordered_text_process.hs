-- Hash maps, scientific numbers and text together with a child process and temporary files.
-- needs: unordered-containers hashable scientific text process
{-# LANGUAGE OverloadedStrings #-}
import qualified Data.HashMap.Strict as H
import qualified Data.HashSet as HS
import Data.Hashable
import Data.List (sort)
import Data.Scientific
import qualified Data.Text as T
import qualified Data.Text.IO as TIO
import System.Directory
import System.IO
import System.Process

main :: IO ()
main = do
  let ws = T.words (T.concat (replicate 400 "the quick brown fox jumps over the lazy dog and the cat "))
      counts = H.fromListWith (+) [ (w, 1 :: Int) | w <- ws ]
  print (sort (H.toList counts))
  let m = H.fromList [ (n, n * n) | n <- [1 .. 20000 :: Int] ]
  print (H.size m, H.lookup 777 m, sum (H.elems (H.filterWithKey (\k _ -> k `mod` 100 == 0) m)))
  print (H.size (H.unionWith (+) m (H.map negate m)), HS.size (HS.map (`mod` 97) (HS.fromList [1 .. 5000 :: Int])))
  print (hash (42 :: Int) == hash (42 :: Int), hash ("a" :: T.Text) == hash ("a" :: T.Text))
  print (read "1.5e10" :: Scientific, toRealFloat (2.5e-3) :: Double, floatingOrInteger 5e3 :: Either Double Int)
  TIO.writeFile "in.txt" (T.unlines (map (T.pack . show) [3, 1, 2 :: Int]))
  h <- openFile "in.txt" ReadMode
  (_, Just out, _, p) <- createProcess (proc "sort" []) { std_in = UseHandle h, std_out = CreatePipe }
  TIO.hGetContents out >>= print
  waitForProcess p >>= print
  removeFile "in.txt"
