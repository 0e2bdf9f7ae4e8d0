-- The same without -threaded, and without optimisation.
-- ghc: -O0
-- needs: hecaton
-- skip-hecs: threads of a user scheduler run on one HEC so far
import SwitchChecks

main :: IO ()
main = switchChecks
