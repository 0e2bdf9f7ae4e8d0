-- getArgs and getProgName see the command line without its runtime options, in order.
-- args: one +RTS -A64k -RTS two +RTS -A128k -RTS "three four" "" five
import System.Environment
main :: IO ()
main = getArgs >>= print >> getProgName >>= putStrLn
