-- A thunk that overflowed a small stack limit is evaluated again in pieces: the exception did not spoil it.
-- args: +RTS -K300k -RTS
import Control.Exception

main :: IO ()
main = do
  let links = scanl (\a b -> a + b) 0 [1 .. 20000] :: [Int]
      final = last links
  r <- try (evaluate final)
  putStrLn (either (\e -> show (e :: AsyncException)) show r)
  -- From the front each link is one step.
  mapM_ evaluate links
  r2 <- try (evaluate final)
  putStrLn (either (\e -> show (e :: AsyncException)) show r2)
