-- Unknown functions of every arity applied to every number of pointer arguments: under-, exact and over-saturated.
-- ghc: -O0 -threaded
import Data.IORef

f1 :: Int -> Int
f1 a = a + 1
f2 :: Int -> Int -> Int
f2 a b = 10 * a + b
f3 :: Int -> Int -> Int -> Int
f3 a b c = 10 * f2 a b + c
f4 :: Int -> Int -> Int -> Int -> Int
f4 a b c d = 10 * f3 a b c + d
f5 :: Int -> Int -> Int -> Int -> Int -> Int
f5 a b c d e = 10 * f4 a b c d + e
f6 :: Int -> Int -> Int -> Int -> Int -> Int -> Int
f6 a b c d e f = 10 * f5 a b c d e + f
f7 :: Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int
f7 a b c d e f g = 10 * f6 a b c d e f + g
f8 :: Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int
f8 a b c d e f g h = 10 * f7 a b c d e f g + h
f9 :: Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int
f9 a b c d e f g h i = 10 * f8 a b c d e f g h + i
f12 :: Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int -> Int
f12 a b c d e f g h i j k l = 1000 * f9 a b c d e f g h i + 100 * j + 10 * k + l

-- Results of calls that return functions, so that one application does several calls.
c1 :: Int -> Int -> Int -> Int -> Int -> Int -> Int
c1 a = \b c -> \d -> if d > 100 then \_ _ -> 0 else \e f -> f6 a b c d e f

main :: IO ()
main = do
  -- The references make every function unknown to the compiler.
  r1 <- newIORef f1; r2 <- newIORef f2; r3 <- newIORef f3; r4 <- newIORef f4
  r5 <- newIORef f5; r6 <- newIORef f6; r7 <- newIORef f7; r8 <- newIORef f8
  r9 <- newIORef f9; r12 <- newIORef f12; rc <- newIORef c1
  g1 <- readIORef r1; g2 <- readIORef r2; g3 <- readIORef r3; g4 <- readIORef r4
  g5 <- readIORef r5; g6 <- readIORef r6; g7 <- readIORef r7; g8 <- readIORef r8
  g9 <- readIORef r9; g12 <- readIORef r12; gc <- readIORef rc
  print [g1 1, g2 1 2, g3 1 2 3, g4 1 2 3 4, g5 1 2 3 4 5, g6 1 2 3 4 5 6, g7 1 2 3 4 5 6 7, g8 1 2 3 4 5 6 7 8, g9 1 2 3 4 5 6 7 8 9]
  print (g12 1 2 3 4 5 6 7 8 9 1 2 3)
  print (gc 1 2 3 4 5 6)
  -- Partial applications of each size, completed in each remaining size, some stepwise.
  let p1 = g6 1; p2 = g6 1 2; p3 = g6 1 2 3; p4 = g6 1 2 3 4; p5 = g6 1 2 3 4 5
  print [p1 2 3 4 5 6, p2 3 4 5 6, p3 4 5 6, p4 5 6, p5 6]
  let q2 = p1 2; q3 = q2 3; q4 = q3 4; q5 = q4 5
  print (q5 6, q4 5 7, q3 4 5 8)
  let s4 = g12 9 8 7 6; s8 = s4 5 4 3 2; s11 = s8 1 2 3
  print (s11 4, s8 1 2 3 5, s4 5 4 3 2 1 2 3 6)
  print (zipWith3 (\f a b -> f a b) [g2, p4, g3 7, const id, flip g2] [1 ..] [5 ..])
  print (foldr (\x k acc -> k (acc * 3 + x)) id [1 .. 20] 0)
  print (map ($ 4) [g1, g2 3, g3 2 1, g4 7 7 7, g5 1 1 1 1, g6 0 0 0 0 0, s11])
