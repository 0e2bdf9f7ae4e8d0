-- The same without -threaded.
-- ghc: -O
-- needs: hecaton
-- timeout: 120
-- skip-pes: it forks, and one of several processing elements must not
import EventPrograms

main :: IO ()
main = everything
