-- The same without -threaded, and without optimisation.
-- ghc: -O0
-- needs: hecaton QuickCheck
import MVarPrograms

main :: IO ()
main = mvarPrograms
