-- The smallest program linked against the threaded debug flavour, with garbage collections.
-- ghc: -O -debug -threaded
main :: IO ()
main = print (length (show (product [1 .. 2000 :: Integer])))
