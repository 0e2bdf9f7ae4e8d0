-- exitFailure gives exit code 1 after flushing stdout.
import System.Exit
import System.IO
main :: IO ()
main = hSetBuffering stdout (BlockBuffering Nothing) >> putStr "buffered text" >> exitFailure
