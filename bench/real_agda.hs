-- Agda checks a module of its own: inductive families, proofs by recursion, instance search, records and evaluation by
-- the type checker.
-- needs: Agda
-- args: 14 20
-- timeout: 120
import Agda.Main (runAgda)
import System.Directory
import System.Environment

-- The module; some declarations come as often as asked, and some numbers are so large.
source :: Int -> Int -> String
source n k = unlines (base n ++ concatMap copy [1 .. k])

base :: Int -> [String]
base n =
  [ "module Proofs where"
  , "data ℕ : Set where"
  , "  zero : ℕ"
  , "  suc : ℕ → ℕ"
  , "{-# BUILTIN NATURAL ℕ #-}"
  , "infix 4 _≡_"
  , "data _≡_ {A : Set} (x : A) : A → Set where"
  , "  refl : x ≡ x"
  , "cong : {A B : Set} (f : A → B) {x y : A} → x ≡ y → f x ≡ f y"
  , "cong f refl = refl"
  , "trans : {A : Set} {x y z : A} → x ≡ y → y ≡ z → x ≡ z"
  , "trans refl p = p"
  , "sym : {A : Set} {x y : A} → x ≡ y → y ≡ x"
  , "sym refl = refl"
  , "infixl 6 _+_"
  , "infixl 7 _*_"
  , "_+_ _*_ : ℕ → ℕ → ℕ"
  , "zero + n = n"
  , "suc m + n = suc (m + n)"
  , "zero * n = zero"
  , "suc m * n = n + m * n"
  , "fib : ℕ → ℕ"
  , "fib zero = zero"
  , "fib (suc zero) = suc zero"
  , "fib (suc (suc n)) = fib (suc n) + fib n"
  , "value : fib " ++ show n ++ " + zero ≡ fib " ++ show n
  , "value = refl"
  , "infixr 5 _∷_"
  , "data Vec (A : Set) : ℕ → Set where"
  , "  [] : Vec A zero"
  , "  _∷_ : ∀ {n} → A → Vec A n → Vec A (suc n)"
  , "record Show (A : Set) : Set where"
  , "  field size : A → ℕ"
  , "open Show {{...}}"
  , "instance"
  , "  showℕ : Show ℕ"
  , "  showℕ = record { size = λ x → x }"
  , "  showVec : ∀ {A n} → {{Show A}} → Show (Vec A n)"
  , "  showVec {A} {n} = record { size = go } where"
  , "    go : ∀ {m} → Vec A m → ℕ"
  , "    go [] = zero"
  , "    go (x ∷ xs) = suc (size x + go xs)"
  ]

copy :: Int -> [String]
copy i = map concat
  [ ["+-zero", v, " : ∀ n → n + zero ≡ n"], ["+-zero", v, " zero = refl"], ["+-zero", v, " (suc n) = cong suc (+-zero", v, " n)"]
  , ["+-suc", v, " : ∀ m n → m + suc n ≡ suc (m + n)"], ["+-suc", v, " zero n = refl"]
  , ["+-suc", v, " (suc m) n = cong suc (+-suc", v, " m n)"]
  , ["+-comm", v, " : ∀ m n → m + n ≡ n + m"], ["+-comm", v, " zero n = sym (+-zero", v, " n)"]
  , ["+-comm", v, " (suc m) n = trans (cong suc (+-comm", v, " m n)) (sym (+-suc", v, " n m))"]
  , ["+-assoc", v, " : ∀ a b c → a + b + c ≡ a + (b + c)"], ["+-assoc", v, " zero b c = refl"]
  , ["+-assoc", v, " (suc a) b c = cong suc (+-assoc", v, " a b c)"]
  , ["distrib", v, " : ∀ a b c → (a + b) * c ≡ a * c + b * c"], ["distrib", v, " zero b c = refl"]
  , ["distrib", v, " (suc a) b c = trans (cong (c +_) (distrib", v, " a b c)) (sym (+-assoc", v, " c (a * c) (b * c)))"]
  , ["map", v, " : ∀ {A B n} → (A → B) → Vec A n → Vec B n"], ["map", v, " f [] = []"], ["map", v, " f (x ∷ xs) = f x ∷ map", v, " f xs"]
  , ["sized", v, " : size (map", v, " suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12"], ["sized", v, " = refl"]
  , ["data Term", v, " : Set where"], ["  lit", v, " : ℕ → Term", v], ["  add", v, " mul", v, " : Term", v, " → Term", v, " → Term", v]
  , ["eval", v, " : Term", v, " → ℕ"], ["eval", v, " (lit", v, " n) = n"], ["eval", v, " (add", v, " a b) = eval", v, " a + eval", v, " b"]
  , ["eval", v, " (mul", v, " a b) = eval", v, " a * eval", v, " b"]
  , ["swap", v, " : ∀ a b → eval", v, " (add", v, " a b) ≡ eval", v, " (add", v, " b a)"], ["swap", v, " a b = +-comm", v, " (eval", v, " a) (eval", v, " b)"]
  ]
  where v = show i

main :: IO ()
main = do
  [n, k] <- map read <$> getArgs
  createDirectoryIfMissing True "agda"
  writeFile "agda/Proofs.agda" (source n k)
  withArgs ["-v0", "--no-libraries", "--ignore-interfaces", "-iagda", "agda/Proofs.agda"] (runAgda [])
  getFileSize "agda/Proofs.agdai" >>= print
