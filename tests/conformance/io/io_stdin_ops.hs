-- getLine, isEOF, getChar, readLn, getContents on standard input, and the error at its end.
-- stdin: first
-- stdin: 42
-- stdin: xyz
-- stdin: rest
import Control.Exception
import System.IO
import System.IO.Error

main :: IO ()
main = do
  getLine >>= putStrLn
  (readLn :: IO Int) >>= print . (+ 1)
  getChar >>= print
  hLookAhead stdin >>= print
  isEOF >>= print
  hWaitForInput stdin 0 >>= print
  getLine >>= putStrLn
  getLine >>= putStrLn
  isEOF >>= print
  r <- try getLine
  either (\e -> print (isEOFError e, e)) putStrLn r
