{-# LANGUAGE QuasiQuotes, TemplateHaskell #-}
module Main where

import Quote

data Colour = Red | Green Int | Blue

-- What follows sees it.
pure []

instance Named Colour where
  names _ = $(constructors ''Colour)

main :: IO ()
main = do
  print ($(power 5) (3 :: Int))
  print (names Red)
  print ($squares :: Integer)
  print $(caught)
  putStrLn [text| some   words
                  on two lines |]
