-- Hundreds of constants in one table, demanded in scattered order with collections in between.
-- ghc: -O -fno-cse -threaded
import System.Mem
import Control.Monad

c00, c01, c02, c03, c04, c05, c06, c07, c08, c09 :: [Integer]
c00 = scanl (+) 1 (map fromIntegral [1 .. 300 :: Int])
c01 = map (* 2) c00
c02 = zipWith (+) c00 c01
c03 = reverse c02
c04 = filter even c03
c05 = takeWhile (> 10) c04
c06 = c05 ++ c01
c07 = map (`mod` 1009) c06
c08 = scanl1 (+) c07
c09 = zipWith (*) c08 c00
{-# NOINLINE c00 #-}
{-# NOINLINE c01 #-}
{-# NOINLINE c02 #-}
{-# NOINLINE c03 #-}
{-# NOINLINE c04 #-}
{-# NOINLINE c05 #-}
{-# NOINLINE c06 #-}
{-# NOINLINE c07 #-}
{-# NOINLINE c08 #-}
{-# NOINLINE c09 #-}

strings :: [(String, String)]
strings = [ (show n, concat (replicate n "ab")) | n <- [0 .. 300 :: Int] ]
{-# NOINLINE strings #-}

main :: IO ()
main = do
  forM_ [c09, c04, c00, c07, c02] $ \c -> do
    print (sum c)
    performGC
  print (fmap length (lookup "250" strings))
  performGC
  print (sum c05, sum c08, length c03, sum (map (length . snd) strings))
