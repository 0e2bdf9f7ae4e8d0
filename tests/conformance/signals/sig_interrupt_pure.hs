-- SIGINT reaches main in the middle of a pure computation that allocates.
import Control.Exception
import System.Posix.Signals

main :: IO ()
main = do
  r <- try (raiseSignal sigINT >> evaluate (last (takeWhile (> 0) (iterate (+ 1) (1 :: Integer)))))
  print (r :: Either AsyncException Integer)
