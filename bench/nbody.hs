-- Numeric: planets under gravity, double-precision records updated strictly.
-- args: 1500000
import System.Environment
import Data.List (foldl')

data B = B !Double !Double !Double !Double !Double !Double !Double

bodies :: [B]
bodies =
  [ B 0 0 0 0 0 0 39.47
  , B 4.84 (-1.16) (-0.10) 0.606 2.81 (-0.02) 0.037
  , B 8.34 4.12 (-0.4) (-1.01) 1.82 0.008 0.011
  , B 12.89 (-15.11) (-0.22) 1.08 0.868 (-0.01) 0.0017
  , B 15.37 (-25.9) 0.179 0.979 0.594 (-0.034) 0.002 ]

step :: Double -> [B] -> [B]
step dt bs = map move (map kick bs)
  where
    kick b = foldl' (pull b) b bs
    pull (B x y z _ _ _ _) acc@(B ax ay az vx vy vz m) (B x2 y2 z2 _ _ _ m2)
      | d2 == 0 = acc
      | otherwise = B ax ay az (vx - dx * k) (vy - dy * k) (vz - dz * k) m
      where dx = x - x2; dy = y - y2; dz = z - z2
            d2 = dx * dx + dy * dy + dz * dz
            k = m2 * dt / (d2 * sqrt d2)
    move (B x y z vx vy vz m) = B (x + dt * vx) (y + dt * vy) (z + dt * vz) vx vy vz m

energy :: [B] -> Double
energy bs = sum [ 0.5 * m * (vx * vx + vy * vy + vz * vz) | B _ _ _ vx vy vz m <- bs ]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let go :: Int -> [B] -> [B]
      go 0 bs = bs
      go k bs = let bs' = step 0.001 bs in foldr seq () bs' `seq` go (k - 1) bs'
  print (truncate (energy (go n bodies) * 1e6) :: Int)
