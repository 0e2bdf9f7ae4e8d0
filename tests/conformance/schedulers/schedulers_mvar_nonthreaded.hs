-- The same without -threaded, and without optimisation.
-- ghc: -O0 -with-rtsopts=-C60
-- needs: hecaton QuickCheck
-- skip-hecs: with several HECs a storm of exceptions may still stop a scheduler
import MVarPrograms

main :: IO ()
main = mvarPrograms
