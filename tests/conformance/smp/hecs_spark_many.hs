-- More sparks than there is room for, taken by several HECs while others are made, with many collections in between:
-- most die before they are taken, and none is evaluated to something else.
-- ghc: -O -threaded -rtsopts
-- args: +RTS -N4 -A64k -e100 -RTS
-- timeout: 180
import Control.Monad
import Data.List (foldl')
import GHC.Conc

work :: Int -> Int
work n = foldl' (\h i -> (h * 31 + i) `mod` 65537) n [1 .. 1 + n `mod` 50]
{-# NOINLINE work #-}

main :: IO ()
main = do
  -- Kept, so that they can be taken.
  sums <- forM [0 .. 99] $ \k -> do
    let xs = map work [k * 1000 .. k * 1000 + 999]
    foldr par (return ()) xs
    n <- numSparks
    when (n > 128) (putStrLn "more than there may be")
    return $! foldl' (+) 0 xs
  print (foldl' (\h s -> (h * 7 + s) `mod` 1000003) 0 sums)
  -- Garbage at once.
  forM_ [1 .. 100000] $ \k -> let x = work k in x `par` return ()
  print (foldl' (\h k -> (h * 7 + work k) `mod` 1000003) 0 [1 .. 100000])
