-- ByteString: building, concatenating, splitting, folding and comparing bytes.
-- args: 1200000
import qualified Data.ByteString as B
import qualified Data.ByteString.Builder as BB
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Lazy as L
import Data.List (foldl', sort)
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let b = L.toStrict (BB.toLazyByteString (mconcat [ BB.intDec (i * 7919) <> BB.char7 ',' <> BB.wordHex (fromIntegral i) <> BB.char7 '\n' | i <- [1 .. n] ]))
      ls = C.lines b
      fields = map (C.split ',') (take (n `div` 2) ls)
      numbers = [ k | f : _ <- fields, Just (k, _) <- [C.readInt f] ]
  print (B.length b, B.foldl' (\h w -> (h * 31 + fromIntegral w) `mod` 1000003) (7 :: Int) b)
  print (length ls, foldl' (\a k -> (a + k) `mod` 1000003) 0 numbers)
  let some = sort (take (n `div` 5) ls)
  print (head some, last some, B.length (B.concat (map B.reverse some)))
