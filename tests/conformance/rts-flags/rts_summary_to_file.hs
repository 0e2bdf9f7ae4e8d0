-- -t with a file name writes its figures there and leaves stderr to the program.
-- args: +RTS -tstats.out -RTS
import System.IO
main :: IO ()
main = do
  print (length (show (2 ^ (100000 :: Int) :: Integer)))
  hPutStrLn stderr "only this on stderr"
