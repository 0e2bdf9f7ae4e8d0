-- switch: what each outcome of its transaction does.
-- ghc: -O -threaded
-- needs: hecaton
-- skip-hecs: threads of a user scheduler run on one HEC so far
import SwitchChecks

main :: IO ()
main = switchChecks
