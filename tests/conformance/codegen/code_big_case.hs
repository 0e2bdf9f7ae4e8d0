-- A type of 120 constructors: tags beyond the pointer's bits, jump tables, enumeration, comparison.
data D = A0 | A1 | A2 | A3 | A4 | A5 | A6 Int | A7 | A8 | A9 | B0 | B1 | B2 | B3 | B4 | B5 | B6 | B7 String | B8 | B9
       | C0 | C1 | C2 | C3 | C4 | C5 | C6 | C7 | C8 | C9 | D0 | D1 | D2 | D3 | D4 | D5 | D6 | D7 | D8 | D9
       | E0 | E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8 | E9 | F0 | F1 | F2 | F3 | F4 | F5 | F6 | F7 | F8 | F9
       | G0 | G1 | G2 | G3 | G4 | G5 | G6 | G7 | G8 | G9 | H0 | H1 | H2 | H3 | H4 | H5 | H6 | H7 | H8 | H9
       | I0 | I1 | I2 | I3 | I4 | I5 | I6 | I7 | I8 | I9 | J0 | J1 | J2 | J3 | J4 | J5 | J6 | J7 | J8 | J9 Int Int
       | K0 | K1 | K2 | K3 | K4 | K5 | K6 | K7 | K8 | K9 | L0 | L1 | L2 | L3 | L4 | L5 | L6 | L7 | L8 | L9
  deriving (Show, Eq, Ord)

data Color = C00 | C01 | C02 | C03 | C04 | C05 | C06 | C07 | C08 | C09 | C10 | C11 | C12 deriving (Show, Enum, Bounded, Eq, Ord)

f :: D -> Int
f d = case d of
  A0 -> 3; A5 -> 5; A6 n -> n; A7 -> 7; B1 -> 11; B7 s -> length s; C0 -> 20; C9 -> 29; D5 -> 35; E5 -> 45
  F9 -> 59; G0 -> 60; H7 -> 77; I8 -> 88; J8 -> 98; J9 a b -> a * b; K0 -> 100; K9 -> 109; L0 -> 110; L9 -> 119
  _ -> -1

g :: Int -> String
g n = case n of
  0 -> "zero"; 1 -> "one"; 2 -> "two"; 3 -> "three"; 4 -> "four"; 5 -> "five"; 6 -> "six"; 7 -> "seven"; 8 -> "eight"
  1000 -> "thousand"; 1000000 -> "million"; -1 -> "minus one"; 4611686018427387904 -> "2^62"; _ -> "many"

main :: IO ()
main = do
  let ds = [A0, A5, A6 66, A7, B1, B7 "abc", C0, C9, D5, E5, F9, G0, H7, I8, J8, J9 6 7, K0, K9, L0, L9, A1, L5, E9]
  print (map f ds)
  print (maximum ds, minimum ds, J9 1 2 < K0, J9 1 2 == J9 1 2, compare (A6 3) (A6 4))
  print (map g [0 .. 9], map g [1000, 1000000, -1, 2 ^ (62 :: Int), 999])
  print [minBound .. maxBound :: Color]
  print (fromEnum C12, toEnum 9 :: Color, succ C07, [C02, C04 ..])
