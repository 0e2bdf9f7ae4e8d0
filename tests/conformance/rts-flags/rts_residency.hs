-- Statistics at the end know how much was alive, even if no full collection was needed.
-- ghc: -rtsopts
-- needs: process
import System.Environment
import System.Exit
import System.IO
import System.Process

main :: IO ()
main = do
  args <- getArgs
  me <- getExecutablePath
  case args of
    ["child"] -> print (sum (map fromIntegral [1 .. 1000 :: Int]) :: Integer)
    _ -> do
      (code, out, err) <- readProcessWithExitCode me ["child", "+RTS", "-t", "--machine-readable", "-RTS"] ""
      let figures = read err :: [(String, String)]
          figure name = maybe 0 read (lookup name figures) :: Int
      print (code, out)
      print (figure "num_byte_usage_samples" > 0, figure "max_bytes_used" > 0)
      hFlush stdout
      exitWith code
