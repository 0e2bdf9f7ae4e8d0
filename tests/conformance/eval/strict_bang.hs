-- seq, bang patterns, strict fields and ($!): what is forced and what is not.
{-# LANGUAGE BangPatterns #-}
import Control.Exception

data L = L Int Int
data S = S !Int Int

probe :: String -> a -> IO ()
probe s x = do
  r <- try (evaluate x)
  putStrLn (s ++ ": " ++ either (\(ErrorCall m) -> "forced " ++ m) (const "fine") r)

f :: Int -> Int -> Int
f !_ _ = 1

main :: IO ()
main = do
  probe "lazy constructor" (L (error "a") (error "b"))
  probe "strict constructor" (S (error "a") (error "b"))
  probe "strict constructor, lazy field" (S 1 (error "b"))
  probe "bang pattern" (f (error "x") 2)
  probe "unbanged" (f 1 (error "y"))
  probe "function" (\x -> (error "body" :: Int) + x)
  probe "partial application" (f (error "arg"))
  probe "composition" (error "g" . (+ (1 :: Int)) :: Int -> Int)
  probe "undefined function" (error "fun" :: Int -> Int)
  probe "strict apply" (const 1 $! (error "arg" :: Int) :: Int)
  probe "seq pair" ((error "l" :: Int, error "r" :: Int) `seq` ())
  probe "let bang" (let !z = error "z" :: Int in (5 :: Int))
