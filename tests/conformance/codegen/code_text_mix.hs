-- Character classes, Data.Bits over several widths, printf, Read of composite values.
import Data.Bits
import Data.Char
import Data.Word
import Text.Printf

main :: IO ()
main = do
  print (filter isAlpha ['\0' .. '\300'] == filter isLetter ['\0' .. '\300'], map generalCategory "aA1 _-(\n\955")
  print (map toUpper "straße λ", map digitToInt "0aF", intToDigit 11, ord maxBound, chr 955)
  print (isSpace '\160', isUpper 'Λ', isAlphaNum '_', showLitChar '\DEL' "")
  print (xor 5 3 :: Int, complement 0 :: Word16, testBit (6 :: Int) 1, setBit (0 :: Word8) 7, popCount (0xF0F0 :: Word16))
  print (bit 63 :: Word64, (maxBound :: Word8) `rotateR` 3, countTrailingZeros (8 :: Int), zeroBits :: Int)
  printf "%d %5d|%-5d|%05d %x %o %c %s %8.3f %e %%\n" (1 :: Int) (2 :: Int) (3 :: Int) (4 :: Int) (255 :: Int) (8 :: Int) 'q' "str" (3.14159 :: Double) (1234.5 :: Double)
  let s = printf "%s-%d" "a" (7 :: Int) :: String
  putStrLn s
  print (reads "12 rest" :: [(Int, String)])
  print (read " ( 1 , [ Left 2 , Right \"x\" ] ) " :: (Int, [Either Int String]))
