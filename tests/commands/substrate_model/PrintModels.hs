-- Prints a module of random programs of the model.
module Main (main) where

import Control.Monad
import ModelGenerator
import ModelHaskell
import Test.QuickCheck
import Test.QuickCheck.Gen (unGen)
import Test.QuickCheck.Random (mkQCGen)

main :: IO ()
main = do
  putStr (modulePrefix "Models")
  let samples = unGen (vectorOf 60 anySample) (mkQCGen 45) 30
  forM_ (zip [1 :: Int ..] samples) $ \(i, s) -> putStrLn ('\n' : haskell ("program" ++ show i) (compile s))
