-- SIGINT reaches main in the middle of a pure computation.
import Control.Exception
import System.Posix.Signals

main :: IO ()
main = do
  r <- try (raiseSignal sigINT >> evaluate (length (filter even (cycle [1 :: Int, 2]))))
  print (r :: Either AsyncException Int)
