module Proofs where
data ℕ : Set where
  zero : ℕ
  suc : ℕ → ℕ
{-# BUILTIN NATURAL ℕ #-}
infix 4 _≡_
data _≡_ {A : Set} (x : A) : A → Set where
  refl : x ≡ x
cong : {A B : Set} (f : A → B) {x y : A} → x ≡ y → f x ≡ f y
cong f refl = refl
trans : {A : Set} {x y z : A} → x ≡ y → y ≡ z → x ≡ z
trans refl p = p
sym : {A : Set} {x y : A} → x ≡ y → y ≡ x
sym refl = refl
infixl 6 _+_
infixl 7 _*_
_+_ _*_ : ℕ → ℕ → ℕ
zero + n = n
suc m + n = suc (m + n)
zero * n = zero
suc m * n = n + m * n
fib : ℕ → ℕ
fib zero = zero
fib (suc zero) = suc zero
fib (suc (suc n)) = fib (suc n) + fib n
value : fib 14 + zero ≡ fib 14
value = refl
infixr 5 _∷_
data Vec (A : Set) : ℕ → Set where
  [] : Vec A zero
  _∷_ : ∀ {n} → A → Vec A n → Vec A (suc n)
record Show (A : Set) : Set where
  field size : A → ℕ
open Show {{...}}
instance
  showℕ : Show ℕ
  showℕ = record { size = λ x → x }
  showVec : ∀ {A n} → {{Show A}} → Show (Vec A n)
  showVec {A} {n} = record { size = go } where
    go : ∀ {m} → Vec A m → ℕ
    go [] = zero
    go (x ∷ xs) = suc (size x + go xs)
+-zero1 : ∀ n → n + zero ≡ n
+-zero1 zero = refl
+-zero1 (suc n) = cong suc (+-zero1 n)
+-suc1 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc1 zero n = refl
+-suc1 (suc m) n = cong suc (+-suc1 m n)
+-comm1 : ∀ m n → m + n ≡ n + m
+-comm1 zero n = sym (+-zero1 n)
+-comm1 (suc m) n = trans (cong suc (+-comm1 m n)) (sym (+-suc1 n m))
+-assoc1 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc1 zero b c = refl
+-assoc1 (suc a) b c = cong suc (+-assoc1 a b c)
distrib1 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib1 zero b c = refl
distrib1 (suc a) b c = trans (cong (c +_) (distrib1 a b c)) (sym (+-assoc1 c (a * c) (b * c)))
map1 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map1 f [] = []
map1 f (x ∷ xs) = f x ∷ map1 f xs
sized1 : size (map1 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized1 = refl
data Term1 : Set where
  lit1 : ℕ → Term1
  add1 mul1 : Term1 → Term1 → Term1
eval1 : Term1 → ℕ
eval1 (lit1 n) = n
eval1 (add1 a b) = eval1 a + eval1 b
eval1 (mul1 a b) = eval1 a * eval1 b
swap1 : ∀ a b → eval1 (add1 a b) ≡ eval1 (add1 b a)
swap1 a b = +-comm1 (eval1 a) (eval1 b)
+-zero2 : ∀ n → n + zero ≡ n
+-zero2 zero = refl
+-zero2 (suc n) = cong suc (+-zero2 n)
+-suc2 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc2 zero n = refl
+-suc2 (suc m) n = cong suc (+-suc2 m n)
+-comm2 : ∀ m n → m + n ≡ n + m
+-comm2 zero n = sym (+-zero2 n)
+-comm2 (suc m) n = trans (cong suc (+-comm2 m n)) (sym (+-suc2 n m))
+-assoc2 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc2 zero b c = refl
+-assoc2 (suc a) b c = cong suc (+-assoc2 a b c)
distrib2 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib2 zero b c = refl
distrib2 (suc a) b c = trans (cong (c +_) (distrib2 a b c)) (sym (+-assoc2 c (a * c) (b * c)))
map2 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map2 f [] = []
map2 f (x ∷ xs) = f x ∷ map2 f xs
sized2 : size (map2 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized2 = refl
data Term2 : Set where
  lit2 : ℕ → Term2
  add2 mul2 : Term2 → Term2 → Term2
eval2 : Term2 → ℕ
eval2 (lit2 n) = n
eval2 (add2 a b) = eval2 a + eval2 b
eval2 (mul2 a b) = eval2 a * eval2 b
swap2 : ∀ a b → eval2 (add2 a b) ≡ eval2 (add2 b a)
swap2 a b = +-comm2 (eval2 a) (eval2 b)
+-zero3 : ∀ n → n + zero ≡ n
+-zero3 zero = refl
+-zero3 (suc n) = cong suc (+-zero3 n)
+-suc3 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc3 zero n = refl
+-suc3 (suc m) n = cong suc (+-suc3 m n)
+-comm3 : ∀ m n → m + n ≡ n + m
+-comm3 zero n = sym (+-zero3 n)
+-comm3 (suc m) n = trans (cong suc (+-comm3 m n)) (sym (+-suc3 n m))
+-assoc3 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc3 zero b c = refl
+-assoc3 (suc a) b c = cong suc (+-assoc3 a b c)
distrib3 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib3 zero b c = refl
distrib3 (suc a) b c = trans (cong (c +_) (distrib3 a b c)) (sym (+-assoc3 c (a * c) (b * c)))
map3 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map3 f [] = []
map3 f (x ∷ xs) = f x ∷ map3 f xs
sized3 : size (map3 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized3 = refl
data Term3 : Set where
  lit3 : ℕ → Term3
  add3 mul3 : Term3 → Term3 → Term3
eval3 : Term3 → ℕ
eval3 (lit3 n) = n
eval3 (add3 a b) = eval3 a + eval3 b
eval3 (mul3 a b) = eval3 a * eval3 b
swap3 : ∀ a b → eval3 (add3 a b) ≡ eval3 (add3 b a)
swap3 a b = +-comm3 (eval3 a) (eval3 b)
+-zero4 : ∀ n → n + zero ≡ n
+-zero4 zero = refl
+-zero4 (suc n) = cong suc (+-zero4 n)
+-suc4 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc4 zero n = refl
+-suc4 (suc m) n = cong suc (+-suc4 m n)
+-comm4 : ∀ m n → m + n ≡ n + m
+-comm4 zero n = sym (+-zero4 n)
+-comm4 (suc m) n = trans (cong suc (+-comm4 m n)) (sym (+-suc4 n m))
+-assoc4 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc4 zero b c = refl
+-assoc4 (suc a) b c = cong suc (+-assoc4 a b c)
distrib4 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib4 zero b c = refl
distrib4 (suc a) b c = trans (cong (c +_) (distrib4 a b c)) (sym (+-assoc4 c (a * c) (b * c)))
map4 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map4 f [] = []
map4 f (x ∷ xs) = f x ∷ map4 f xs
sized4 : size (map4 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized4 = refl
data Term4 : Set where
  lit4 : ℕ → Term4
  add4 mul4 : Term4 → Term4 → Term4
eval4 : Term4 → ℕ
eval4 (lit4 n) = n
eval4 (add4 a b) = eval4 a + eval4 b
eval4 (mul4 a b) = eval4 a * eval4 b
swap4 : ∀ a b → eval4 (add4 a b) ≡ eval4 (add4 b a)
swap4 a b = +-comm4 (eval4 a) (eval4 b)
+-zero5 : ∀ n → n + zero ≡ n
+-zero5 zero = refl
+-zero5 (suc n) = cong suc (+-zero5 n)
+-suc5 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc5 zero n = refl
+-suc5 (suc m) n = cong suc (+-suc5 m n)
+-comm5 : ∀ m n → m + n ≡ n + m
+-comm5 zero n = sym (+-zero5 n)
+-comm5 (suc m) n = trans (cong suc (+-comm5 m n)) (sym (+-suc5 n m))
+-assoc5 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc5 zero b c = refl
+-assoc5 (suc a) b c = cong suc (+-assoc5 a b c)
distrib5 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib5 zero b c = refl
distrib5 (suc a) b c = trans (cong (c +_) (distrib5 a b c)) (sym (+-assoc5 c (a * c) (b * c)))
map5 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map5 f [] = []
map5 f (x ∷ xs) = f x ∷ map5 f xs
sized5 : size (map5 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized5 = refl
data Term5 : Set where
  lit5 : ℕ → Term5
  add5 mul5 : Term5 → Term5 → Term5
eval5 : Term5 → ℕ
eval5 (lit5 n) = n
eval5 (add5 a b) = eval5 a + eval5 b
eval5 (mul5 a b) = eval5 a * eval5 b
swap5 : ∀ a b → eval5 (add5 a b) ≡ eval5 (add5 b a)
swap5 a b = +-comm5 (eval5 a) (eval5 b)
+-zero6 : ∀ n → n + zero ≡ n
+-zero6 zero = refl
+-zero6 (suc n) = cong suc (+-zero6 n)
+-suc6 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc6 zero n = refl
+-suc6 (suc m) n = cong suc (+-suc6 m n)
+-comm6 : ∀ m n → m + n ≡ n + m
+-comm6 zero n = sym (+-zero6 n)
+-comm6 (suc m) n = trans (cong suc (+-comm6 m n)) (sym (+-suc6 n m))
+-assoc6 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc6 zero b c = refl
+-assoc6 (suc a) b c = cong suc (+-assoc6 a b c)
distrib6 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib6 zero b c = refl
distrib6 (suc a) b c = trans (cong (c +_) (distrib6 a b c)) (sym (+-assoc6 c (a * c) (b * c)))
map6 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map6 f [] = []
map6 f (x ∷ xs) = f x ∷ map6 f xs
sized6 : size (map6 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized6 = refl
data Term6 : Set where
  lit6 : ℕ → Term6
  add6 mul6 : Term6 → Term6 → Term6
eval6 : Term6 → ℕ
eval6 (lit6 n) = n
eval6 (add6 a b) = eval6 a + eval6 b
eval6 (mul6 a b) = eval6 a * eval6 b
swap6 : ∀ a b → eval6 (add6 a b) ≡ eval6 (add6 b a)
swap6 a b = +-comm6 (eval6 a) (eval6 b)
+-zero7 : ∀ n → n + zero ≡ n
+-zero7 zero = refl
+-zero7 (suc n) = cong suc (+-zero7 n)
+-suc7 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc7 zero n = refl
+-suc7 (suc m) n = cong suc (+-suc7 m n)
+-comm7 : ∀ m n → m + n ≡ n + m
+-comm7 zero n = sym (+-zero7 n)
+-comm7 (suc m) n = trans (cong suc (+-comm7 m n)) (sym (+-suc7 n m))
+-assoc7 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc7 zero b c = refl
+-assoc7 (suc a) b c = cong suc (+-assoc7 a b c)
distrib7 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib7 zero b c = refl
distrib7 (suc a) b c = trans (cong (c +_) (distrib7 a b c)) (sym (+-assoc7 c (a * c) (b * c)))
map7 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map7 f [] = []
map7 f (x ∷ xs) = f x ∷ map7 f xs
sized7 : size (map7 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized7 = refl
data Term7 : Set where
  lit7 : ℕ → Term7
  add7 mul7 : Term7 → Term7 → Term7
eval7 : Term7 → ℕ
eval7 (lit7 n) = n
eval7 (add7 a b) = eval7 a + eval7 b
eval7 (mul7 a b) = eval7 a * eval7 b
swap7 : ∀ a b → eval7 (add7 a b) ≡ eval7 (add7 b a)
swap7 a b = +-comm7 (eval7 a) (eval7 b)
+-zero8 : ∀ n → n + zero ≡ n
+-zero8 zero = refl
+-zero8 (suc n) = cong suc (+-zero8 n)
+-suc8 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc8 zero n = refl
+-suc8 (suc m) n = cong suc (+-suc8 m n)
+-comm8 : ∀ m n → m + n ≡ n + m
+-comm8 zero n = sym (+-zero8 n)
+-comm8 (suc m) n = trans (cong suc (+-comm8 m n)) (sym (+-suc8 n m))
+-assoc8 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc8 zero b c = refl
+-assoc8 (suc a) b c = cong suc (+-assoc8 a b c)
distrib8 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib8 zero b c = refl
distrib8 (suc a) b c = trans (cong (c +_) (distrib8 a b c)) (sym (+-assoc8 c (a * c) (b * c)))
map8 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map8 f [] = []
map8 f (x ∷ xs) = f x ∷ map8 f xs
sized8 : size (map8 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized8 = refl
data Term8 : Set where
  lit8 : ℕ → Term8
  add8 mul8 : Term8 → Term8 → Term8
eval8 : Term8 → ℕ
eval8 (lit8 n) = n
eval8 (add8 a b) = eval8 a + eval8 b
eval8 (mul8 a b) = eval8 a * eval8 b
swap8 : ∀ a b → eval8 (add8 a b) ≡ eval8 (add8 b a)
swap8 a b = +-comm8 (eval8 a) (eval8 b)
+-zero9 : ∀ n → n + zero ≡ n
+-zero9 zero = refl
+-zero9 (suc n) = cong suc (+-zero9 n)
+-suc9 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc9 zero n = refl
+-suc9 (suc m) n = cong suc (+-suc9 m n)
+-comm9 : ∀ m n → m + n ≡ n + m
+-comm9 zero n = sym (+-zero9 n)
+-comm9 (suc m) n = trans (cong suc (+-comm9 m n)) (sym (+-suc9 n m))
+-assoc9 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc9 zero b c = refl
+-assoc9 (suc a) b c = cong suc (+-assoc9 a b c)
distrib9 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib9 zero b c = refl
distrib9 (suc a) b c = trans (cong (c +_) (distrib9 a b c)) (sym (+-assoc9 c (a * c) (b * c)))
map9 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map9 f [] = []
map9 f (x ∷ xs) = f x ∷ map9 f xs
sized9 : size (map9 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized9 = refl
data Term9 : Set where
  lit9 : ℕ → Term9
  add9 mul9 : Term9 → Term9 → Term9
eval9 : Term9 → ℕ
eval9 (lit9 n) = n
eval9 (add9 a b) = eval9 a + eval9 b
eval9 (mul9 a b) = eval9 a * eval9 b
swap9 : ∀ a b → eval9 (add9 a b) ≡ eval9 (add9 b a)
swap9 a b = +-comm9 (eval9 a) (eval9 b)
+-zero10 : ∀ n → n + zero ≡ n
+-zero10 zero = refl
+-zero10 (suc n) = cong suc (+-zero10 n)
+-suc10 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc10 zero n = refl
+-suc10 (suc m) n = cong suc (+-suc10 m n)
+-comm10 : ∀ m n → m + n ≡ n + m
+-comm10 zero n = sym (+-zero10 n)
+-comm10 (suc m) n = trans (cong suc (+-comm10 m n)) (sym (+-suc10 n m))
+-assoc10 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc10 zero b c = refl
+-assoc10 (suc a) b c = cong suc (+-assoc10 a b c)
distrib10 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib10 zero b c = refl
distrib10 (suc a) b c = trans (cong (c +_) (distrib10 a b c)) (sym (+-assoc10 c (a * c) (b * c)))
map10 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map10 f [] = []
map10 f (x ∷ xs) = f x ∷ map10 f xs
sized10 : size (map10 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized10 = refl
data Term10 : Set where
  lit10 : ℕ → Term10
  add10 mul10 : Term10 → Term10 → Term10
eval10 : Term10 → ℕ
eval10 (lit10 n) = n
eval10 (add10 a b) = eval10 a + eval10 b
eval10 (mul10 a b) = eval10 a * eval10 b
swap10 : ∀ a b → eval10 (add10 a b) ≡ eval10 (add10 b a)
swap10 a b = +-comm10 (eval10 a) (eval10 b)
+-zero11 : ∀ n → n + zero ≡ n
+-zero11 zero = refl
+-zero11 (suc n) = cong suc (+-zero11 n)
+-suc11 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc11 zero n = refl
+-suc11 (suc m) n = cong suc (+-suc11 m n)
+-comm11 : ∀ m n → m + n ≡ n + m
+-comm11 zero n = sym (+-zero11 n)
+-comm11 (suc m) n = trans (cong suc (+-comm11 m n)) (sym (+-suc11 n m))
+-assoc11 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc11 zero b c = refl
+-assoc11 (suc a) b c = cong suc (+-assoc11 a b c)
distrib11 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib11 zero b c = refl
distrib11 (suc a) b c = trans (cong (c +_) (distrib11 a b c)) (sym (+-assoc11 c (a * c) (b * c)))
map11 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map11 f [] = []
map11 f (x ∷ xs) = f x ∷ map11 f xs
sized11 : size (map11 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized11 = refl
data Term11 : Set where
  lit11 : ℕ → Term11
  add11 mul11 : Term11 → Term11 → Term11
eval11 : Term11 → ℕ
eval11 (lit11 n) = n
eval11 (add11 a b) = eval11 a + eval11 b
eval11 (mul11 a b) = eval11 a * eval11 b
swap11 : ∀ a b → eval11 (add11 a b) ≡ eval11 (add11 b a)
swap11 a b = +-comm11 (eval11 a) (eval11 b)
+-zero12 : ∀ n → n + zero ≡ n
+-zero12 zero = refl
+-zero12 (suc n) = cong suc (+-zero12 n)
+-suc12 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc12 zero n = refl
+-suc12 (suc m) n = cong suc (+-suc12 m n)
+-comm12 : ∀ m n → m + n ≡ n + m
+-comm12 zero n = sym (+-zero12 n)
+-comm12 (suc m) n = trans (cong suc (+-comm12 m n)) (sym (+-suc12 n m))
+-assoc12 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc12 zero b c = refl
+-assoc12 (suc a) b c = cong suc (+-assoc12 a b c)
distrib12 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib12 zero b c = refl
distrib12 (suc a) b c = trans (cong (c +_) (distrib12 a b c)) (sym (+-assoc12 c (a * c) (b * c)))
map12 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map12 f [] = []
map12 f (x ∷ xs) = f x ∷ map12 f xs
sized12 : size (map12 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized12 = refl
data Term12 : Set where
  lit12 : ℕ → Term12
  add12 mul12 : Term12 → Term12 → Term12
eval12 : Term12 → ℕ
eval12 (lit12 n) = n
eval12 (add12 a b) = eval12 a + eval12 b
eval12 (mul12 a b) = eval12 a * eval12 b
swap12 : ∀ a b → eval12 (add12 a b) ≡ eval12 (add12 b a)
swap12 a b = +-comm12 (eval12 a) (eval12 b)
+-zero13 : ∀ n → n + zero ≡ n
+-zero13 zero = refl
+-zero13 (suc n) = cong suc (+-zero13 n)
+-suc13 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc13 zero n = refl
+-suc13 (suc m) n = cong suc (+-suc13 m n)
+-comm13 : ∀ m n → m + n ≡ n + m
+-comm13 zero n = sym (+-zero13 n)
+-comm13 (suc m) n = trans (cong suc (+-comm13 m n)) (sym (+-suc13 n m))
+-assoc13 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc13 zero b c = refl
+-assoc13 (suc a) b c = cong suc (+-assoc13 a b c)
distrib13 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib13 zero b c = refl
distrib13 (suc a) b c = trans (cong (c +_) (distrib13 a b c)) (sym (+-assoc13 c (a * c) (b * c)))
map13 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map13 f [] = []
map13 f (x ∷ xs) = f x ∷ map13 f xs
sized13 : size (map13 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized13 = refl
data Term13 : Set where
  lit13 : ℕ → Term13
  add13 mul13 : Term13 → Term13 → Term13
eval13 : Term13 → ℕ
eval13 (lit13 n) = n
eval13 (add13 a b) = eval13 a + eval13 b
eval13 (mul13 a b) = eval13 a * eval13 b
swap13 : ∀ a b → eval13 (add13 a b) ≡ eval13 (add13 b a)
swap13 a b = +-comm13 (eval13 a) (eval13 b)
+-zero14 : ∀ n → n + zero ≡ n
+-zero14 zero = refl
+-zero14 (suc n) = cong suc (+-zero14 n)
+-suc14 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc14 zero n = refl
+-suc14 (suc m) n = cong suc (+-suc14 m n)
+-comm14 : ∀ m n → m + n ≡ n + m
+-comm14 zero n = sym (+-zero14 n)
+-comm14 (suc m) n = trans (cong suc (+-comm14 m n)) (sym (+-suc14 n m))
+-assoc14 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc14 zero b c = refl
+-assoc14 (suc a) b c = cong suc (+-assoc14 a b c)
distrib14 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib14 zero b c = refl
distrib14 (suc a) b c = trans (cong (c +_) (distrib14 a b c)) (sym (+-assoc14 c (a * c) (b * c)))
map14 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map14 f [] = []
map14 f (x ∷ xs) = f x ∷ map14 f xs
sized14 : size (map14 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized14 = refl
data Term14 : Set where
  lit14 : ℕ → Term14
  add14 mul14 : Term14 → Term14 → Term14
eval14 : Term14 → ℕ
eval14 (lit14 n) = n
eval14 (add14 a b) = eval14 a + eval14 b
eval14 (mul14 a b) = eval14 a * eval14 b
swap14 : ∀ a b → eval14 (add14 a b) ≡ eval14 (add14 b a)
swap14 a b = +-comm14 (eval14 a) (eval14 b)
+-zero15 : ∀ n → n + zero ≡ n
+-zero15 zero = refl
+-zero15 (suc n) = cong suc (+-zero15 n)
+-suc15 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc15 zero n = refl
+-suc15 (suc m) n = cong suc (+-suc15 m n)
+-comm15 : ∀ m n → m + n ≡ n + m
+-comm15 zero n = sym (+-zero15 n)
+-comm15 (suc m) n = trans (cong suc (+-comm15 m n)) (sym (+-suc15 n m))
+-assoc15 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc15 zero b c = refl
+-assoc15 (suc a) b c = cong suc (+-assoc15 a b c)
distrib15 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib15 zero b c = refl
distrib15 (suc a) b c = trans (cong (c +_) (distrib15 a b c)) (sym (+-assoc15 c (a * c) (b * c)))
map15 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map15 f [] = []
map15 f (x ∷ xs) = f x ∷ map15 f xs
sized15 : size (map15 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized15 = refl
data Term15 : Set where
  lit15 : ℕ → Term15
  add15 mul15 : Term15 → Term15 → Term15
eval15 : Term15 → ℕ
eval15 (lit15 n) = n
eval15 (add15 a b) = eval15 a + eval15 b
eval15 (mul15 a b) = eval15 a * eval15 b
swap15 : ∀ a b → eval15 (add15 a b) ≡ eval15 (add15 b a)
swap15 a b = +-comm15 (eval15 a) (eval15 b)
+-zero16 : ∀ n → n + zero ≡ n
+-zero16 zero = refl
+-zero16 (suc n) = cong suc (+-zero16 n)
+-suc16 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc16 zero n = refl
+-suc16 (suc m) n = cong suc (+-suc16 m n)
+-comm16 : ∀ m n → m + n ≡ n + m
+-comm16 zero n = sym (+-zero16 n)
+-comm16 (suc m) n = trans (cong suc (+-comm16 m n)) (sym (+-suc16 n m))
+-assoc16 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc16 zero b c = refl
+-assoc16 (suc a) b c = cong suc (+-assoc16 a b c)
distrib16 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib16 zero b c = refl
distrib16 (suc a) b c = trans (cong (c +_) (distrib16 a b c)) (sym (+-assoc16 c (a * c) (b * c)))
map16 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map16 f [] = []
map16 f (x ∷ xs) = f x ∷ map16 f xs
sized16 : size (map16 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized16 = refl
data Term16 : Set where
  lit16 : ℕ → Term16
  add16 mul16 : Term16 → Term16 → Term16
eval16 : Term16 → ℕ
eval16 (lit16 n) = n
eval16 (add16 a b) = eval16 a + eval16 b
eval16 (mul16 a b) = eval16 a * eval16 b
swap16 : ∀ a b → eval16 (add16 a b) ≡ eval16 (add16 b a)
swap16 a b = +-comm16 (eval16 a) (eval16 b)
+-zero17 : ∀ n → n + zero ≡ n
+-zero17 zero = refl
+-zero17 (suc n) = cong suc (+-zero17 n)
+-suc17 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc17 zero n = refl
+-suc17 (suc m) n = cong suc (+-suc17 m n)
+-comm17 : ∀ m n → m + n ≡ n + m
+-comm17 zero n = sym (+-zero17 n)
+-comm17 (suc m) n = trans (cong suc (+-comm17 m n)) (sym (+-suc17 n m))
+-assoc17 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc17 zero b c = refl
+-assoc17 (suc a) b c = cong suc (+-assoc17 a b c)
distrib17 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib17 zero b c = refl
distrib17 (suc a) b c = trans (cong (c +_) (distrib17 a b c)) (sym (+-assoc17 c (a * c) (b * c)))
map17 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map17 f [] = []
map17 f (x ∷ xs) = f x ∷ map17 f xs
sized17 : size (map17 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized17 = refl
data Term17 : Set where
  lit17 : ℕ → Term17
  add17 mul17 : Term17 → Term17 → Term17
eval17 : Term17 → ℕ
eval17 (lit17 n) = n
eval17 (add17 a b) = eval17 a + eval17 b
eval17 (mul17 a b) = eval17 a * eval17 b
swap17 : ∀ a b → eval17 (add17 a b) ≡ eval17 (add17 b a)
swap17 a b = +-comm17 (eval17 a) (eval17 b)
+-zero18 : ∀ n → n + zero ≡ n
+-zero18 zero = refl
+-zero18 (suc n) = cong suc (+-zero18 n)
+-suc18 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc18 zero n = refl
+-suc18 (suc m) n = cong suc (+-suc18 m n)
+-comm18 : ∀ m n → m + n ≡ n + m
+-comm18 zero n = sym (+-zero18 n)
+-comm18 (suc m) n = trans (cong suc (+-comm18 m n)) (sym (+-suc18 n m))
+-assoc18 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc18 zero b c = refl
+-assoc18 (suc a) b c = cong suc (+-assoc18 a b c)
distrib18 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib18 zero b c = refl
distrib18 (suc a) b c = trans (cong (c +_) (distrib18 a b c)) (sym (+-assoc18 c (a * c) (b * c)))
map18 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map18 f [] = []
map18 f (x ∷ xs) = f x ∷ map18 f xs
sized18 : size (map18 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized18 = refl
data Term18 : Set where
  lit18 : ℕ → Term18
  add18 mul18 : Term18 → Term18 → Term18
eval18 : Term18 → ℕ
eval18 (lit18 n) = n
eval18 (add18 a b) = eval18 a + eval18 b
eval18 (mul18 a b) = eval18 a * eval18 b
swap18 : ∀ a b → eval18 (add18 a b) ≡ eval18 (add18 b a)
swap18 a b = +-comm18 (eval18 a) (eval18 b)
+-zero19 : ∀ n → n + zero ≡ n
+-zero19 zero = refl
+-zero19 (suc n) = cong suc (+-zero19 n)
+-suc19 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc19 zero n = refl
+-suc19 (suc m) n = cong suc (+-suc19 m n)
+-comm19 : ∀ m n → m + n ≡ n + m
+-comm19 zero n = sym (+-zero19 n)
+-comm19 (suc m) n = trans (cong suc (+-comm19 m n)) (sym (+-suc19 n m))
+-assoc19 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc19 zero b c = refl
+-assoc19 (suc a) b c = cong suc (+-assoc19 a b c)
distrib19 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib19 zero b c = refl
distrib19 (suc a) b c = trans (cong (c +_) (distrib19 a b c)) (sym (+-assoc19 c (a * c) (b * c)))
map19 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map19 f [] = []
map19 f (x ∷ xs) = f x ∷ map19 f xs
sized19 : size (map19 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized19 = refl
data Term19 : Set where
  lit19 : ℕ → Term19
  add19 mul19 : Term19 → Term19 → Term19
eval19 : Term19 → ℕ
eval19 (lit19 n) = n
eval19 (add19 a b) = eval19 a + eval19 b
eval19 (mul19 a b) = eval19 a * eval19 b
swap19 : ∀ a b → eval19 (add19 a b) ≡ eval19 (add19 b a)
swap19 a b = +-comm19 (eval19 a) (eval19 b)
+-zero20 : ∀ n → n + zero ≡ n
+-zero20 zero = refl
+-zero20 (suc n) = cong suc (+-zero20 n)
+-suc20 : ∀ m n → m + suc n ≡ suc (m + n)
+-suc20 zero n = refl
+-suc20 (suc m) n = cong suc (+-suc20 m n)
+-comm20 : ∀ m n → m + n ≡ n + m
+-comm20 zero n = sym (+-zero20 n)
+-comm20 (suc m) n = trans (cong suc (+-comm20 m n)) (sym (+-suc20 n m))
+-assoc20 : ∀ a b c → a + b + c ≡ a + (b + c)
+-assoc20 zero b c = refl
+-assoc20 (suc a) b c = cong suc (+-assoc20 a b c)
distrib20 : ∀ a b c → (a + b) * c ≡ a * c + b * c
distrib20 zero b c = refl
distrib20 (suc a) b c = trans (cong (c +_) (distrib20 a b c)) (sym (+-assoc20 c (a * c) (b * c)))
map20 : ∀ {A B n} → (A → B) → Vec A n → Vec B n
map20 f [] = []
map20 f (x ∷ xs) = f x ∷ map20 f xs
sized20 : size (map20 suc (1 ∷ 2 ∷ 3 ∷ [])) ≡ 12
sized20 = refl
data Term20 : Set where
  lit20 : ℕ → Term20
  add20 mul20 : Term20 → Term20 → Term20
eval20 : Term20 → ℕ
eval20 (lit20 n) = n
eval20 (add20 a b) = eval20 a + eval20 b
eval20 (mul20 a b) = eval20 a * eval20 b
swap20 : ∀ a b → eval20 (add20 a b) ≡ eval20 (add20 b a)
swap20 a b = +-comm20 (eval20 a) (eval20 b)
