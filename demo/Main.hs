-- | Reads a program of the small language from standard input and prints the types of its definitions and what it says.
module Main (main) where

import qualified Data.Text.IO as Text
import Mini.Session
import System.Exit
import System.IO

main :: IO ()
main = do
  text <- Text.getContents
  problems <- mapM say (session text)
  if or problems then exitWith (ExitFailure 1) else pure ()

-- | Whether the line was a problem.
say :: Line -> IO Bool
say (Said t) = False <$ Text.putStrLn t
say (Problem t) = True <$ Text.hPutStrLn stderr t
