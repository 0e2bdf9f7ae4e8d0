-- The same without -threaded, and without optimisation.
-- ghc: -O0
-- needs: hecaton
import SwitchChecks

main :: IO ()
main = switchChecks
