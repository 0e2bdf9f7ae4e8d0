-- Hecaton.MVar against the MVars of base: the same programs on both. And what only the former can: threads of
-- different schedulers meet, and those that have been interrupted leave nothing behind.
-- ghc: -O -threaded -with-rtsopts=-C60
-- needs: hecaton QuickCheck
import MVarPrograms

main :: IO ()
main = mvarPrograms
