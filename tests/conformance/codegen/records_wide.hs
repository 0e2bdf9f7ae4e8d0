-- A constructor with 34 fields of mixed kinds: construction, update, pattern matching, survival of collections.
data Wide = Wide
  { f01, f02, f03, f04, f05, f06, f07, f08, f09, f10 :: !Int
  , g01, g02, g03, g04, g05, g06, g07, g08, g09, g10 :: String
  , h01, h02, h03, h04, h05, h06, h07, h08 :: {-# UNPACK #-} !Double
  , i01, i02, i03, i04, i05, i06 :: Maybe Wide } deriving (Show, Eq)

mk :: Int -> Maybe Wide -> Wide
mk n w = Wide n (n + 1) (n + 2) (n + 3) (n + 4) (n + 5) (n + 6) (n + 7) (n + 8) (n + 9)
  (show n) (show (n + 1)) "c" "d" "e" "f" "g" "h" "i" (replicate 3 'z')
  1 2 3 4 5 6 7 (fromIntegral n) w Nothing w Nothing w Nothing

total :: Wide -> Double
total w = fromIntegral (f01 w + f05 w + f10 w) + h01 w + h08 w + fromIntegral (length (g10 w ++ g01 w)) + maybe 0 total (i05 w)

main :: IO ()
main = do
  let ws = scanl (\w n -> (mk n (Just w)) { f05 = n * 2, g01 = "updated" ++ show n }) (mk 0 Nothing) [1 .. 300]
  print (total (last ws))
  print (sum (map total ws))
  print ((mk 1 Nothing) { i06 = Just (mk 2 Nothing) })
  print (mk 3 Nothing == mk 3 Nothing, mk 3 Nothing == (mk 3 Nothing) { h04 = 5 })
