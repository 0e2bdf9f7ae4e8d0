-- Symbolic: normalization of lambda terms by evaluation, over Church numerals.
-- args: 9
import System.Environment

data Term = Var Int | Lam Term | App Term Term deriving Eq
data Val = Fun (Val -> Val) | Neu Neutral
data Neutral = Level Int | NApp Neutral Val

eval :: [Val] -> Term -> Val
eval env (Var i) = env !! i
eval env (Lam b) = Fun (\v -> eval (v : env) b)
eval env (App f a) = apply (eval env f) (eval env a)

apply :: Val -> Val -> Val
apply (Fun f) v = f v
apply (Neu n) v = Neu (NApp n v)

quote :: Int -> Val -> Term
quote l (Fun f) = Lam (quote (l + 1) (f (Neu (Level l))))
quote l (Neu n) = go n
  where go (Level k) = Var (l - k - 1)
        go (NApp m v) = App (go m) (quote l v)

normalize :: Term -> Term
normalize = quote 0 . eval []

church :: Int -> Term
church n = Lam (Lam (iterate (App (Var 1)) (Var 0) !! n))

add, mul, expo :: Term
add = Lam (Lam (Lam (Lam (App (App (Var 3) (Var 1)) (App (App (Var 2) (Var 1)) (Var 0))))))
mul = Lam (Lam (Lam (App (Var 2) (App (Var 1) (Var 0)))))
expo = Lam (Lam (App (Var 0) (Var 1)))

app2 :: Term -> Term -> Term -> Term
app2 f a b = App (App f a) b

size :: Term -> Int
size (Var _) = 1
size (Lam b) = 1 + size b
size (App f a) = 1 + size f + size a

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let big = normalize (app2 expo (church n) (church 7))
      sums = normalize (app2 add (app2 mul (church 300) (church 300)) (church n))
  print (size big, size sums)
  print (normalize (app2 mul (church 12) (church 25)) == normalize (app2 add (church 299) (church 1)))
