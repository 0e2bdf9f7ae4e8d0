-- Many readers or one writer: opening a file again is refused with its text, also in lazy reading, and allowed after
-- closing.
import Control.Exception
import System.Directory
import System.IO

main :: IO ()
main = do
  let f = "io_locking.tmp"
      attempt mode = do
        r <- try (openFile f mode)
        case r of
          Left e -> putStrLn (show mode ++ ": " ++ show (e :: IOException))
          Right h -> putStrLn (show mode ++ ": opened") >> hClose h
  writeFile f "text"
  h <- openFile f ReadMode
  attempt ReadMode
  attempt WriteMode
  attempt AppendMode
  hClose h
  w <- openFile f WriteMode
  attempt ReadMode
  attempt WriteMode
  hClose w
  attempt WriteMode
  writeFile f "some text"
  s <- readFile f
  r <- try (writeFile f "other")
  either (\e -> print (e :: IOException)) return r
  print (length s)
  writeFile f "other"
  removeFile f
