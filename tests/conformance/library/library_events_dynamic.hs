-- The same in a dynamic program.
-- ghc: -O -threaded -dynamic
-- needs: hecaton
-- timeout: 120
import EventPrograms

main :: IO ()
main = everything
