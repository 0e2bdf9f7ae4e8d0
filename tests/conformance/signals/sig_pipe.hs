-- SIGPIPE is ignored: writing to a closed pipe is an exception in Haskell.
import Control.Exception
import System.IO
import System.IO.Error
import System.Posix.IO

main :: IO ()
main = do
  (r, w) <- createPipe
  closeFd r
  x <- try (fdWrite w "data")
  print (either (\e -> isResourceVanishedError e) (const False) x)
  (r2, w2) <- createPipe
  h <- fdToHandle w2
  closeFd r2
  y <- try (hPutStr h "more" >> hFlush h)
  putStrLn (either (\e -> if isResourceVanishedError e then "broken pipe" else show (e :: IOException)) (const "written") y)
  where isResourceVanishedError e = "resource vanished" `elem` wordsOf (show (e :: IOException))
        wordsOf s = [ take 17 (drop n s) | n <- [0 .. length s] ]
