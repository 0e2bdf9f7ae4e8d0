-- Strategies: words of a text counted in pieces, and the counts of the pieces merged.
-- hecs: 2
-- needs: parallel
-- args: 600000
import Control.Parallel.Strategies
import qualified Data.ByteString.Char8 as B
import Data.List (foldl', sortBy)
import qualified Data.Map.Strict as M
import System.Environment

text :: Int -> B.ByteString
text n = B.unwords (go n 12345)
  where
    go :: Int -> Int -> [B.ByteString]
    go 0 _ = []
    go k seed = let seed' = (seed * 1103515245 + 12345) `mod` 2147483648
                in B.pack ('w' : show ((seed' `div` 65536) `mod` 173 * ((seed' `div` 256) `mod` 41))) : go (k - 1) seed'

pieces :: Int -> B.ByteString -> [B.ByteString]
pieces size t
  | B.length t <= size = [t]
  | otherwise = let (w, rest) = B.break (== ' ') (B.drop size t)
                in B.take (size + B.length w) t : pieces size rest

count :: B.ByteString -> M.Map B.ByteString Int
count = foldl' (\m w -> M.insertWith (+) w 1 m) M.empty . B.words

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let t = text n
      parts = map count (pieces 20000 t) `using` parList rseq
      counts = M.unionsWith (+) parts
      order (a, x) (b, y) = compare (y, a) (x, b)
  mapM_ (\(w, c) -> putStrLn (B.unpack w ++ " " ++ show c)) (take 5 (sortBy order (M.toList counts)))
  print (M.size counts)
