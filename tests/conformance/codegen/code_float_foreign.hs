-- Float and Double arguments and results kept in registers across calls, collections and context switches.
import Control.Concurrent
import Control.Monad

iter :: Double -> Float -> Int -> (Double, Float)
iter d f 0 = (d, f)
iter d f n = iter (d * 0.999 + sin d) (f * 0.5 + realToFrac d) (n - 1)
{-# NOINLINE iter #-}

poly :: Double -> Double -> Double -> Double -> Double -> Double -> Double -> Double -> Double
poly a b c d e f g h
  | length (show (truncate (a * 1000) :: Int)) > 50 = 0
  | otherwise = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h
{-# NOINLINE poly #-}

main :: IO ()
main = do
  vs <- forM [1 .. 8 :: Int] $ \i -> do
    v <- newEmptyMVar
    _ <- forkIO (putMVar v $! iter (fromIntegral i / 7) 0.25 20000)
    return v
  rs <- mapM takeMVar vs
  mapM_ print rs
  print (map (\(d, _) -> poly d (d + 1) (d * 2) (d / 3) (d - 4) (d * d) (sqrt (abs d)) 8) rs)
