-- switch: what each outcome of its transaction does.
-- ghc: -O -threaded
-- needs: hecaton
import SwitchChecks

main :: IO ()
main = switchChecks
