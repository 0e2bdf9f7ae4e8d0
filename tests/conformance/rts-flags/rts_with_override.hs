-- An option fixed at link time is overridden by the command line.
-- ghc: -O -threaded -with-rtsopts=-G4
-- args: +RTS -G3 -RTS
import GHC.RTS.Flags
main :: IO ()
main = getGCFlags >>= print . generations
