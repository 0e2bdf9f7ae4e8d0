-- Dates, clocks that advance, directories, temporary files and their errors.
import Control.Exception
import Control.Monad
import Data.List (sort)
import Data.Time
import Data.Time.Clock.POSIX
import System.CPUTime
import System.Directory
import System.FilePath
import System.IO
import System.IO.Error

main :: IO ()
main = do
  a <- getCurrentTime
  b <- getCurrentTime
  p <- getPOSIXTime
  c <- getCPUTime
  print (b >= a, p > 1600000000, c > 0)
  print (addDays 45 (fromGregorian 2024 1 31), diffDays (fromGregorian 2024 3 1) (fromGregorian 2024 2 1))
  putStrLn (formatTime defaultTimeLocale "%Y-%m-%d %H:%M:%S" (UTCTime (fromGregorian 2001 9 9) 6400))
  createDirectoryIfMissing True ("suite" </> "a" </> "b")
  forM_ [1 .. 5 :: Int] (\i -> writeFile ("suite" </> "a" </> ("f" ++ show i ++ ".txt")) (replicate i 'x'))
  listDirectory ("suite" </> "a") >>= print . sort
  sizes <- mapM (\i -> getFileSize ("suite" </> "a" </> ("f" ++ show i ++ ".txt"))) [1 .. 5 :: Int]
  print sizes
  renameFile "suite/a/f1.txt" "suite/moved"
  copyFile "suite/moved" "suite/copy"
  mapM doesFileExist ["suite/moved", "suite/copy", "suite/a/f1.txt"] >>= print
  r <- try (removeDirectory "suite")
  print (either (\e -> (isDoesNotExistError e, isPermissionError e)) (const (True, True)) r)
  r2 <- try (readFile "suite/none")
  print (either isDoesNotExistError (const False) (r2 :: Either IOException String))
  (path, h) <- openTempFile "suite" "temp.txt"
  hPutStr h "t" >> hClose h
  print (takeExtension path, takeDirectory path)
  removeDirectoryRecursive "suite"
  doesDirectoryExist "suite" >>= print
