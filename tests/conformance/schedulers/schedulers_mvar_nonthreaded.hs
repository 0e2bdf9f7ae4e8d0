-- The same without -threaded, and without optimisation.
-- ghc: -O0
-- needs: hecaton QuickCheck
-- skip-hecs: threads of a user scheduler run on one HEC so far
import MVarPrograms

main :: IO ()
main = mvarPrograms
