-- What a program can ask about the event log it is writing: each option begins with the usual classes.
-- ghc: -eventlog
-- args: +RTS -l-a -l-s-u -lq -ol/dev/null -RTS
import GHC.RTS.Flags

main :: IO ()
main = getTraceFlags >>= print
