-- The same without -threaded, and without optimisation.
-- ghc: -O0 -with-rtsopts=-C60
-- needs: hecaton QuickCheck
import MVarPrograms

main :: IO ()
main = mvarPrograms
