-- vector: boxed, unboxed and storable vectors, fusion, mutation in ST, slices and errors.
-- needs: vector
import Control.Exception
import Control.Monad
import Control.Monad.ST
import qualified Data.Vector as V
import qualified Data.Vector.Mutable as MV
import qualified Data.Vector.Storable as S
import qualified Data.Vector.Unboxed as U
import qualified Data.Vector.Unboxed.Mutable as UM
import System.Mem

sieve :: Int -> U.Vector Int
sieve n = U.map fst (U.filter snd (U.indexed flags))
  where flags = U.create $ do
          v <- UM.replicate (n + 1) True
          UM.write v 0 False >> UM.write v 1 False
          forM_ [2 .. n] $ \i -> do
            p <- UM.read v i
            when (p && i * i <= n) (forM_ [i * i, i * i + i .. n] (\j -> UM.write v j False))
          return v

main :: IO ()
main = do
  let ps = sieve 100000
  print (U.length ps, U.last ps, U.sum ps)
  print (U.sum (U.map (* 2) (U.zipWith (+) (U.enumFromTo 1 1000000) (U.enumFromN 5 1000000))) :: Int)
  let v = V.generate 5000 (\i -> [i .. i + 3])
  performMajorGC
  print (V.sum (V.map sum v), V.length (V.filter (even . head) v), V.maximum (V.slice 100 50 (V.map last v)))
  let m = runST (do { mv <- V.thaw v; forM_ [0, 7 .. 4999] (\i -> MV.modify mv (0 :) i); MV.swap mv 0 4999; V.unsafeFreeze mv })
  print (sum (V.map length m), m V.! 0)
  mv <- MV.replicate 3000 []
  performMajorGC
  forM_ [1 .. 20 :: Int] $ \r -> forM_ [0, 13 .. 2999] (\i -> MV.modify mv (r :) i) >> performMinorGC
  f <- V.freeze mv
  print (V.sum (V.map sum f))
  let s = S.fromList (map fromIntegral [1 .. 1000 :: Int]) :: S.Vector Double
  print (S.foldl' (+) 0 (S.map sqrt s) > 21000, S.length (S.drop 990 s))
  print (U.unzip (U.fromList [ (i, even i) | i <- [1 .. 6 :: Int] ]), U.toList (U.scanl (+) 0 (U.fromList [1, 2, 3 :: Int])))
  r <- try (evaluate (V.fromList [1, 2, 3 :: Int] V.! 3))
  putStrLn (either (\e -> "refused: " ++ take 5 (show (e :: SomeException)) `seq` "refused") show r)
  print (V.fromList [1 :: Int, 2] V.!? 5)
