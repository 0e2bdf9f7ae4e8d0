-- Higher-order code: continuation-passing, Church lists, difference lists and a free monad, all unknown calls.
-- args: 1800000
{-# LANGUAGE RankNTypes #-}
import System.Environment

newtype Cont r a = Cont { runCont :: (a -> r) -> r }
instance Functor (Cont r) where fmap f (Cont c) = Cont (\k -> c (k . f))
instance Applicative (Cont r) where { pure a = Cont ($ a); Cont f <*> Cont c = Cont (\k -> f (\g -> c (k . g))) }
instance Monad (Cont r) where Cont c >>= f = Cont (\k -> c (\a -> runCont (f a) k))

newtype Church a = Church (forall r. (a -> r -> r) -> r -> r)

fromTo :: Int -> Int -> Church Int
fromTo a b = Church (\c n -> let go i | i > b = n | otherwise = c i (go (i + 1)) in go a)
{-# NOINLINE fromTo #-}

mapC :: (a -> b) -> Church a -> Church b
mapC f (Church l) = Church (\c n -> l (c . f) n)
{-# NOINLINE mapC #-}

sumC :: Church Int -> Int
sumC (Church l) = l (\x k acc -> k $! (acc + x) `mod` 1000003) id 0
{-# NOINLINE sumC #-}

data Free a = Pure a | Tick (Free a) | Ask (Int -> Free a)
instance Functor Free where fmap f m = m >>= Pure . f
instance Applicative Free where { pure = Pure; f <*> m = f >>= \g -> fmap g m }
instance Monad Free where
  Pure a >>= f = f a
  Tick m >>= f = Tick (m >>= f)
  Ask g >>= f = Ask (\n -> g n >>= f)

interpret :: Int -> Free a -> (a, Int)
interpret n (Pure a) = (a, n)
interpret n (Tick m) = let n' = n + 1 in n' `seq` interpret n' m
interpret n (Ask g) = interpret n (g n)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let loop :: Int -> Int -> Cont r Int
      loop 0 acc = return acc
      loop k acc = do { x <- pure (k * 3); y <- Cont (\c -> if even k then c x else c (x + 1)); loop (k - 1) $! (acc + y) `mod` 1000003 }
  print (runCont (loop (n * 5) 0) id)
  print (sumC (mapC (+ 1) (mapC (* 2) (mapC (subtract 3) (fromTo 1 (n * 2))))))
  let dl = foldr (\k f -> (k :) . f) id [1 .. n] . (0 :)
  print (length (iterate (dl .) id !! 5 $ []))
  let prog :: Int -> Free Int
      prog 0 = Ask Pure
      prog k = Tick (Pure ()) >> Ask Pure >>= \a -> if a `mod` 2 == 0 then prog (k - 1) else Tick (prog (k - 1))
  print (interpret 0 (prog (n * 3)))
