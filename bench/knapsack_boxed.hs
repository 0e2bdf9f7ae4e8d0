-- Mutable arrays: knapsack and longest common subsequence in boxed ST arrays, old arrays pointing at young values.
-- args: 220
{-# LANGUAGE FlexibleContexts #-}
import Control.Monad
import Control.Monad.ST
import Data.Array.ST
import System.Environment

knapsack :: Int -> [(Int, Integer)] -> Integer
knapsack cap items = runST $ do
  t <- newArray (0, cap) 0 :: ST s (STArray s Int Integer)
  forM_ items $ \(w, v) -> forM_ [cap, cap - 1 .. w] $ \c -> do
    x <- readArray t c
    y <- readArray t (c - w)
    when (y + v > x) (writeArray t c $! y + v)
  readArray t cap

lcs :: String -> String -> Int
lcs a b = runST $ do
  let n = length b
  row <- newArray (0, n) [] :: ST s (STArray s Int String)
  forM_ a $ \c -> do
    let go _ _ [] = return ()
        go j diag (x : xs) = do
          up <- readArray row j
          left <- readArray row (j - 1)
          let best | c == x = c : diag
                   | shorter up left = left
                   | otherwise = up
          writeArray row j $! best
          go (j + 1) up xs
    go 1 [] b
  length <$> readArray row n
  where shorter p q = case (p, q) of { ([], _) -> True; (_, []) -> False; (_ : p', _ : q') -> shorter p' q' }

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  print (knapsack 12000 [ (20 + (i * 37) `mod` 211, fromIntegral (100 + (i * 53) `mod` 307)) | i <- [1 .. n] ])
  let text k = take (n * 6) (map (\i -> toEnum (97 + (i * i + k * i) `mod` 7)) [1 ..])
  print (lcs (text 3) (text 5))
