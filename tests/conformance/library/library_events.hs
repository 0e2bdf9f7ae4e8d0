-- Everything that Hecaton.Event offers, on both back ends.
-- ghc: -O -threaded
-- needs: hecaton
-- timeout: 120
import EventPrograms

main :: IO ()
main = everything
