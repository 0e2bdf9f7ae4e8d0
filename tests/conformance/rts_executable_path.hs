-- getExecutablePath names this program.
import System.Environment
import System.FilePath
main :: IO ()
main = do
  p <- getExecutablePath
  n <- getProgName
  print (takeFileName p == n, isAbsolute p)
