-- Double and Float: decode/encode, rounding, special values, show and read.
import Numeric

main :: IO ()
main = do
  print (map decodeFloat [0, 1, -1, 1.5, 1 / 3, 5.0e-324, 1.7976931348623157e308 :: Double])
  print (map decodeFloat [0, 1, -0.1, 1.0e-45, 3.4028235e38 :: Float])
  print (encodeFloat 1 (-1074) :: Double, encodeFloat 3 1100 :: Double, encodeFloat (2 ^ 70 + 1) (-70) :: Double)
  print (1 / 0 :: Double, -1 / 0 :: Double, isNaN (0 / 0 :: Double), isNegativeZero (-0.0 :: Double))
  print [ (truncate x, round x, ceiling x, floor x) :: (Int, Int, Int, Int) | x <- [0.5, 1.5, 2.5, -0.5, -1.5, -2.7 :: Double] ]
  print (round (1.0e30 :: Double) :: Integer, truncate (-1.0e25 :: Double) :: Integer)
  print [0.1, 1.0e7, 9999999.0, 0.01, 1.0e-2, 123456.789, 1.0e22, 5.0e-324 :: Double]
  print (map read ["0.1", "1e400", "-3.25e-3", "1e22"] :: [Double])
  putStrLn (showFFloat (Just 3) (2.0005 :: Double) "" ++ " " ++ showEFloat (Just 2) (12345.678 :: Double) "" ++ " " ++ showHex (255 :: Int) "")
  print (fromRational (1 / 3) :: Double, toRational (0.75 :: Double), realToFrac (0.1 :: Float) :: Double)
  print (sqrt 2 :: Double, sin 1 :: Double, exp 1 :: Double, atan2 1 (-1) :: Double, 2 ** 0.5 :: Float)
  print (significand (8 :: Double), exponent (8 :: Double), scaleFloat 3 (1.5 :: Double), floatDigits (1 :: Float))
