-- fixIO and mdo-like knots, and the error when the knot is pulled too early.
import Control.Exception
import GHC.IO.Exception (FixIOException)
import System.IO
import Data.IORef

data Cell = Cell Int (IORef Cell)

main :: IO ()
main = do
  xs <- fixIO (\xs -> return (1 : map (* 2) (take 9 xs)))
  print (xs :: [Int])
  c <- fixIO (\c -> Cell 7 <$> newIORef c)
  let Cell _ r = c
  Cell n _ <- readIORef r
  print n
  e <- try (fixIO (\x -> evaluate (x + 1 :: Int)))
  print (either (\ex -> show (ex :: FixIOException)) show e)
