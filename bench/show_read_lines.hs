-- Strings: show, read, lines, words and a pretty printer over lists of characters.
-- args: 18000
import Data.Char
import Data.List
import System.Environment

data Rec = Rec { key :: Int, name :: String, weights :: [Double], next :: Maybe Rec } deriving (Show, Read, Eq)

mk :: Int -> Rec
mk n = Rec { key = n, name = "item " ++ show (n * 7), weights = map ((/ 4) . fromIntegral) [n, n + 1], next = if even n then Just (Rec 0 "end" [] Nothing) else Nothing }

wrap :: Int -> [String] -> [String]
wrap w = go [] 0
  where
    go acc _ [] = [unwords (reverse acc)]
    go acc k (x : xs)
      | k + length x + 1 > w = unwords (reverse acc) : go [x] (length x) xs
      | otherwise = go (x : acc) (k + length x + 1) xs

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let recs = map mk [1 .. n]
      text = unlines (map show recs)
      back = map read (take (n `div` 10) (lines text)) :: [Rec]
      wrapped = wrap 72 (words (map toUpper text))
  print (length text, take (n `div` 10) recs == back)
  print (length wrapped, maximum (map length wrapped), foldl' (\h c -> (h * 31 + ord c) `mod` 1000003) 7 (concat wrapped))
