-- Reads the number of a program and a seed, and runs the program.
module Main (main) where

import Models

main :: IO ()
main = do
  [program, seed] <- map read . words <$> getLine
  ending seed (programs program)
