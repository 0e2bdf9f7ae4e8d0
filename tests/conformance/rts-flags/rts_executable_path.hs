-- getExecutablePath names a file that is there.
import System.Environment
import System.Directory
import System.FilePath
main :: IO ()
main = do
  p <- getExecutablePath
  e <- doesFileExist p
  print (isAbsolute p, e)
