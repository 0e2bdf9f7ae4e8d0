-- Large string literals unpacked lazily, with every escape and multi-byte character.
import Data.Char

lit :: String
lit = "The quick brown fox\tjumps over\nthe lazy dog. \0 embedded nul, \1234\65536 wide, \\ \" quoted \DEL\200.\
      \ Continued line with \SOH\&H and more text so that it is long enough to need several chunks of unpacking: \
      \Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore."

main :: IO ()
main = do
  print (length lit, sum (map ord lit))
  print lit
  print (map toUpper (take 19 lit))
  print (length (concat (replicate 1000 lit)))
  print (lit == reverse (reverse lit), lit ++ "x" > lit)
