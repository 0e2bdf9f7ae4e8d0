module Generated where
f1 xs = map (\x -> x + 1) (filter (\y -> not (y == 0)) xs)
g1 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h1 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k1 a b = if a then (if b then True else False) else False
s1 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 1] . reverse . reverse
f2 xs = map (\x -> x + 2) (filter (\y -> not (y == 0)) xs)
g2 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h2 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k2 a b = if a then (if b then True else False) else False
s2 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 2] . reverse . reverse
f3 xs = map (\x -> x + 3) (filter (\y -> not (y == 0)) xs)
g3 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h3 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k3 a b = if a then (if b then True else False) else False
s3 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 3] . reverse . reverse
f4 xs = map (\x -> x + 4) (filter (\y -> not (y == 0)) xs)
g4 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h4 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k4 a b = if a then (if b then True else False) else False
s4 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 4] . reverse . reverse
f5 xs = map (\x -> x + 5) (filter (\y -> not (y == 0)) xs)
g5 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h5 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k5 a b = if a then (if b then True else False) else False
s5 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 5] . reverse . reverse
f6 xs = map (\x -> x + 6) (filter (\y -> not (y == 0)) xs)
g6 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h6 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k6 a b = if a then (if b then True else False) else False
s6 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 6] . reverse . reverse
f7 xs = map (\x -> x + 7) (filter (\y -> not (y == 0)) xs)
g7 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h7 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k7 a b = if a then (if b then True else False) else False
s7 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 7] . reverse . reverse
f8 xs = map (\x -> x + 8) (filter (\y -> not (y == 0)) xs)
g8 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h8 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k8 a b = if a then (if b then True else False) else False
s8 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 8] . reverse . reverse
f9 xs = map (\x -> x + 9) (filter (\y -> not (y == 0)) xs)
g9 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h9 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k9 a b = if a then (if b then True else False) else False
s9 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 9] . reverse . reverse
f10 xs = map (\x -> x + 10) (filter (\y -> not (y == 0)) xs)
g10 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h10 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k10 a b = if a then (if b then True else False) else False
s10 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 10] . reverse . reverse
f11 xs = map (\x -> x + 11) (filter (\y -> not (y == 0)) xs)
g11 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h11 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k11 a b = if a then (if b then True else False) else False
s11 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 11] . reverse . reverse
f12 xs = map (\x -> x + 12) (filter (\y -> not (y == 0)) xs)
g12 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h12 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k12 a b = if a then (if b then True else False) else False
s12 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 12] . reverse . reverse
f13 xs = map (\x -> x + 13) (filter (\y -> not (y == 0)) xs)
g13 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h13 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k13 a b = if a then (if b then True else False) else False
s13 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 13] . reverse . reverse
f14 xs = map (\x -> x + 14) (filter (\y -> not (y == 0)) xs)
g14 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h14 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k14 a b = if a then (if b then True else False) else False
s14 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 14] . reverse . reverse
f15 xs = map (\x -> x + 15) (filter (\y -> not (y == 0)) xs)
g15 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h15 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k15 a b = if a then (if b then True else False) else False
s15 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 15] . reverse . reverse
f16 xs = map (\x -> x + 16) (filter (\y -> not (y == 0)) xs)
g16 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h16 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k16 a b = if a then (if b then True else False) else False
s16 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 16] . reverse . reverse
f17 xs = map (\x -> x + 17) (filter (\y -> not (y == 0)) xs)
g17 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h17 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k17 a b = if a then (if b then True else False) else False
s17 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 17] . reverse . reverse
f18 xs = map (\x -> x + 18) (filter (\y -> not (y == 0)) xs)
g18 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h18 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k18 a b = if a then (if b then True else False) else False
s18 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 18] . reverse . reverse
f19 xs = map (\x -> x + 19) (filter (\y -> not (y == 0)) xs)
g19 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h19 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k19 a b = if a then (if b then True else False) else False
s19 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 19] . reverse . reverse
f20 xs = map (\x -> x + 20) (filter (\y -> not (y == 0)) xs)
g20 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h20 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k20 a b = if a then (if b then True else False) else False
s20 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 20] . reverse . reverse
f21 xs = map (\x -> x + 21) (filter (\y -> not (y == 0)) xs)
g21 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h21 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k21 a b = if a then (if b then True else False) else False
s21 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 21] . reverse . reverse
f22 xs = map (\x -> x + 22) (filter (\y -> not (y == 0)) xs)
g22 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h22 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k22 a b = if a then (if b then True else False) else False
s22 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 22] . reverse . reverse
f23 xs = map (\x -> x + 23) (filter (\y -> not (y == 0)) xs)
g23 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h23 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k23 a b = if a then (if b then True else False) else False
s23 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 23] . reverse . reverse
f24 xs = map (\x -> x + 24) (filter (\y -> not (y == 0)) xs)
g24 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h24 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k24 a b = if a then (if b then True else False) else False
s24 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 24] . reverse . reverse
f25 xs = map (\x -> x + 25) (filter (\y -> not (y == 0)) xs)
g25 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h25 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k25 a b = if a then (if b then True else False) else False
s25 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 25] . reverse . reverse
f26 xs = map (\x -> x + 26) (filter (\y -> not (y == 0)) xs)
g26 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h26 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k26 a b = if a then (if b then True else False) else False
s26 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 26] . reverse . reverse
f27 xs = map (\x -> x + 27) (filter (\y -> not (y == 0)) xs)
g27 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h27 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k27 a b = if a then (if b then True else False) else False
s27 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 27] . reverse . reverse
f28 xs = map (\x -> x + 28) (filter (\y -> not (y == 0)) xs)
g28 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h28 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k28 a b = if a then (if b then True else False) else False
s28 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 28] . reverse . reverse
f29 xs = map (\x -> x + 29) (filter (\y -> not (y == 0)) xs)
g29 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h29 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k29 a b = if a then (if b then True else False) else False
s29 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 29] . reverse . reverse
f30 xs = map (\x -> x + 30) (filter (\y -> not (y == 0)) xs)
g30 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h30 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k30 a b = if a then (if b then True else False) else False
s30 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 30] . reverse . reverse
f31 xs = map (\x -> x + 31) (filter (\y -> not (y == 0)) xs)
g31 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h31 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k31 a b = if a then (if b then True else False) else False
s31 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 31] . reverse . reverse
f32 xs = map (\x -> x + 32) (filter (\y -> not (y == 0)) xs)
g32 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h32 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k32 a b = if a then (if b then True else False) else False
s32 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 32] . reverse . reverse
f33 xs = map (\x -> x + 33) (filter (\y -> not (y == 0)) xs)
g33 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h33 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k33 a b = if a then (if b then True else False) else False
s33 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 33] . reverse . reverse
f34 xs = map (\x -> x + 34) (filter (\y -> not (y == 0)) xs)
g34 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h34 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k34 a b = if a then (if b then True else False) else False
s34 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 34] . reverse . reverse
f35 xs = map (\x -> x + 35) (filter (\y -> not (y == 0)) xs)
g35 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h35 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k35 a b = if a then (if b then True else False) else False
s35 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 35] . reverse . reverse
f36 xs = map (\x -> x + 36) (filter (\y -> not (y == 0)) xs)
g36 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h36 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k36 a b = if a then (if b then True else False) else False
s36 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 36] . reverse . reverse
f37 xs = map (\x -> x + 37) (filter (\y -> not (y == 0)) xs)
g37 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h37 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k37 a b = if a then (if b then True else False) else False
s37 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 37] . reverse . reverse
f38 xs = map (\x -> x + 38) (filter (\y -> not (y == 0)) xs)
g38 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h38 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k38 a b = if a then (if b then True else False) else False
s38 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 38] . reverse . reverse
f39 xs = map (\x -> x + 39) (filter (\y -> not (y == 0)) xs)
g39 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h39 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k39 a b = if a then (if b then True else False) else False
s39 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 39] . reverse . reverse
f40 xs = map (\x -> x + 40) (filter (\y -> not (y == 0)) xs)
g40 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h40 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k40 a b = if a then (if b then True else False) else False
s40 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 40] . reverse . reverse
f41 xs = map (\x -> x + 41) (filter (\y -> not (y == 0)) xs)
g41 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h41 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k41 a b = if a then (if b then True else False) else False
s41 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 41] . reverse . reverse
f42 xs = map (\x -> x + 42) (filter (\y -> not (y == 0)) xs)
g42 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h42 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k42 a b = if a then (if b then True else False) else False
s42 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 42] . reverse . reverse
f43 xs = map (\x -> x + 43) (filter (\y -> not (y == 0)) xs)
g43 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h43 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k43 a b = if a then (if b then True else False) else False
s43 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 43] . reverse . reverse
f44 xs = map (\x -> x + 44) (filter (\y -> not (y == 0)) xs)
g44 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h44 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k44 a b = if a then (if b then True else False) else False
s44 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 44] . reverse . reverse
f45 xs = map (\x -> x + 45) (filter (\y -> not (y == 0)) xs)
g45 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h45 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k45 a b = if a then (if b then True else False) else False
s45 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 45] . reverse . reverse
f46 xs = map (\x -> x + 46) (filter (\y -> not (y == 0)) xs)
g46 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h46 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k46 a b = if a then (if b then True else False) else False
s46 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 46] . reverse . reverse
f47 xs = map (\x -> x + 47) (filter (\y -> not (y == 0)) xs)
g47 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h47 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k47 a b = if a then (if b then True else False) else False
s47 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 47] . reverse . reverse
f48 xs = map (\x -> x + 48) (filter (\y -> not (y == 0)) xs)
g48 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h48 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k48 a b = if a then (if b then True else False) else False
s48 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 48] . reverse . reverse
f49 xs = map (\x -> x + 49) (filter (\y -> not (y == 0)) xs)
g49 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h49 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k49 a b = if a then (if b then True else False) else False
s49 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 49] . reverse . reverse
f50 xs = map (\x -> x + 50) (filter (\y -> not (y == 0)) xs)
g50 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h50 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k50 a b = if a then (if b then True else False) else False
s50 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 50] . reverse . reverse
f51 xs = map (\x -> x + 51) (filter (\y -> not (y == 0)) xs)
g51 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h51 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k51 a b = if a then (if b then True else False) else False
s51 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 51] . reverse . reverse
f52 xs = map (\x -> x + 52) (filter (\y -> not (y == 0)) xs)
g52 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h52 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k52 a b = if a then (if b then True else False) else False
s52 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 52] . reverse . reverse
f53 xs = map (\x -> x + 53) (filter (\y -> not (y == 0)) xs)
g53 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h53 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k53 a b = if a then (if b then True else False) else False
s53 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 53] . reverse . reverse
f54 xs = map (\x -> x + 54) (filter (\y -> not (y == 0)) xs)
g54 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h54 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k54 a b = if a then (if b then True else False) else False
s54 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 54] . reverse . reverse
f55 xs = map (\x -> x + 55) (filter (\y -> not (y == 0)) xs)
g55 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h55 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k55 a b = if a then (if b then True else False) else False
s55 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 55] . reverse . reverse
f56 xs = map (\x -> x + 56) (filter (\y -> not (y == 0)) xs)
g56 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h56 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k56 a b = if a then (if b then True else False) else False
s56 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 56] . reverse . reverse
f57 xs = map (\x -> x + 57) (filter (\y -> not (y == 0)) xs)
g57 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h57 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k57 a b = if a then (if b then True else False) else False
s57 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 57] . reverse . reverse
f58 xs = map (\x -> x + 58) (filter (\y -> not (y == 0)) xs)
g58 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h58 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k58 a b = if a then (if b then True else False) else False
s58 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 58] . reverse . reverse
f59 xs = map (\x -> x + 59) (filter (\y -> not (y == 0)) xs)
g59 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h59 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k59 a b = if a then (if b then True else False) else False
s59 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 59] . reverse . reverse
f60 xs = map (\x -> x + 60) (filter (\y -> not (y == 0)) xs)
g60 xs ys = concat (map (\x -> if null xs == True then [x] else ys ++ [x]) xs)
h60 m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }
k60 a b = if a then (if b then True else False) else False
s60 = foldr (\x acc -> x + acc) 0 . map fst . zip [1 .. 60] . reverse . reverse
