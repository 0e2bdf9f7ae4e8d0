-- A ray tracer: mirroring balls above a chequered floor, one lamp. A spark for each row of the picture, which is an
-- unboxed array of colours. Prints the sum of the colours, and a number that depends on their order. Arguments: the
-- length of a row; how many balls there are.
-- ghc: -O -threaded
-- needs: parallel array
{-# LANGUAGE BangPatterns #-}
import Control.Parallel.Strategies (parList, rseq, using)
import Data.Array.Unboxed
import Data.List
import System.Environment

data V = V !Double !Double !Double

plus, minus :: V -> V -> V
plus (V a b c) (V x y z) = V (a + x) (b + y) (c + z)
minus (V a b c) (V x y z) = V (a - x) (b - y) (c - z)

times :: Double -> V -> V
times k (V x y z) = V (k * x) (k * y) (k * z)

dot :: V -> V -> Double
dot (V a b c) (V x y z) = a * x + b * y + c * z

unit :: V -> V
unit v = (1 / sqrt (dot v v)) `times` v

-- Center, radius, brightness.
data Ball = Ball !V !Double !Double

balls :: Int -> [Ball]
balls n = [Ball (V (2 * sin (angle k)) (height k) (6 + 2 * cos (angle k))) 0.4 (bright k) | k <- [0 .. n - 1]]
  where
    angle k = 6.2832 * fromIntegral k / fromIntegral n
    height k = 0.4 * fromIntegral (k `mod` 5)
    bright k = 0.4 + 0.6 * fromIntegral (k `mod` 3) / 2

-- How far along the ray the ball is, if it is there.
hits :: V -> V -> Ball -> Maybe Double
hits from along (Ball center radius _)
  | under < 0 || distance < 1e-6 = Nothing
  | otherwise = Just distance
  where
    to = center `minus` from
    middle = dot to along
    under = radius * radius - dot to to + middle * middle
    distance = middle - sqrt under

nearest :: [Ball] -> V -> V -> Maybe (Double, Ball)
nearest scene from along = foldl' closer Nothing scene
  where
    closer best ball = case (hits from along ball, best) of
      (Just d, Just (least, _)) | d >= least -> best
      (Just d, _) -> Just (d, ball)
      (Nothing, _) -> best

lamp :: V
lamp = V (-4) 6 0

-- How bright what this ray meets is, after at most `mirrors` mirrors.
trace :: Int -> [Ball] -> V -> V -> Double
trace mirrors scene from along@(V _ down _) = case nearest scene from along of
  Just (d, Ball center _ bright) ->
    let at = from `plus` (d `times` along); out = unit (at `minus` center)
     in bright * lit at out + 0.4 * onwards at out
  Nothing
    | down < -1e-6 ->
      let V _ y _ = from
          at@(V x _ z) = from `plus` (((-0.5 - y) / down) `times` along)
          square = if even (floor x + floor z :: Int) then 0.9 else 0.3
          up = V 0 1 0
       in square * lit at up + 0.2 * onwards at up
    | otherwise -> 0.2
  where
    onwards at out
      | mirrors == 0 = 0
      | otherwise = trace (mirrors - 1) scene at (along `minus` ((2 * dot along out) `times` out))
    lit at out =
      let !to = unit (lamp `minus` at)
       in case nearest scene at to of
            Just _ -> 0.1
            Nothing -> 0.1 + 0.9 * max 0 (dot to out)

row :: Int -> [Ball] -> Int -> UArray Int Int
row n scene y = listArray (0, n - 1) [color (unit (V (at x) (negate (at y)) 1.5)) | x <- [0 .. n - 1]]
  where
    at i = 2 * fromIntegral i / fromIntegral n - 1
    color along = min 255 (round (255 * trace 4 scene (V 0 0.5 0) along))

main :: IO ()
main = do
  [n, count] <- map read <$> getArgs
  let scene = balls count
      colors = concatMap elems (map (row n scene) [0 .. n - 1] `using` parList rseq)
      step (total, mixed) p = let t = total + p; m = (mixed * 31 + p) `mod` 1000003 in t `seq` m `seq` (t, m)
  print (foldl' step (0, 7) colors)
