-- A program that goes on beyond its heap limit is told so again each time that it has used up its grace, and may
-- recover at any of them.
-- args: +RTS -M6m -Mgrace=4m -RTS
import Control.Exception
import Control.Monad
import Data.IORef
import System.Mem

fill :: IORef [Integer] -> Integer -> IO ()
fill kept n = modifyIORef' kept (n :) >> fill kept (n + 1)

main :: IO ()
main = do
  kept <- newIORef []
  told <- newIORef (0 :: Int)
  replicateM_ 5 $ fill kept 0 `catch` \e -> case e of
    HeapOverflow -> modifyIORef' told (+ 1)
    _ -> print e
  writeIORef kept []
  performMajorGC
  readIORef told >>= print
  r <- try (fill kept 0)
  writeIORef kept []
  performMajorGC
  print (either (\e -> show (e :: AsyncException)) show r)
