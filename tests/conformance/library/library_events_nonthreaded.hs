-- The same without -threaded.
-- ghc: -O
-- needs: hecaton
-- timeout: 120
import EventPrograms

main :: IO ()
main = everything
