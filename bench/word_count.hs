-- Text and ByteString: splitting, counting words, and rendering the most frequent.
-- args: 150000
import qualified Data.ByteString.Char8 as B
import qualified Data.Map.Strict as M
import qualified Data.Text as T
import Data.List (sortBy)
import Data.Ord
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let ws = take n (map word (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) 99))
      word x = take (2 + x `mod` 5) (map (\k -> toEnum (97 + k `mod` 9)) (iterate (`div` 7) (x `div` 64))) :: String
      bytes = B.unwords (map B.pack ws)
      text = T.unwords (map T.pack (take (n `div` 2) ws))
      countB = M.fromListWith (+) [ (w, 1 :: Int) | w <- B.words bytes ]
      countT = M.fromListWith (+) [ (T.toUpper w, 1 :: Int) | w <- T.words text ]
      top m = take 3 (sortBy (comparing (Down . snd) <> comparing fst) (M.toList m))
  print (B.length bytes, M.size countB, top countB)
  print (T.length text, M.size countT, top countT)
