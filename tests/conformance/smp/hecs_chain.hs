-- Threads that update a shared map lazily: each update waits for the one before it, by whichever thread. All of them
-- count, and the threads do not end up waiting for each other in turn.
-- ghc: -O
-- hecs: 2
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.Map as M

-- As compilers keep their names: found or made, by a thunk that the next one looks into.
name :: IORef (M.Map Int Int) -> Int -> IO Int
name ref k = do
  n <- atomicModifyIORef ref $ \m -> case M.lookup k m of
    Just n -> (M.insert k (n + 1) m, n)
    Nothing -> (M.insert k 1 m, 0)
  evaluate n

work :: Int -> Int
work n = length (filter odd (scanl (\a i -> (a * 31 + i) `mod` 10007) n [1 .. 60]))

main :: IO ()
main = do
  ref <- newIORef M.empty
  ended <- newEmptyMVar
  let threads = 16
      turns = 3000 :: Int
  forM_ [1 .. threads] $ \t -> forkIO $ do
    seen <- forM [1 .. turns] $ \i -> do
      n <- name ref ((t * i) `mod` 97)
      evaluate (work (n + i) + n)
    putMVar ended $! length (filter (>= 0) seen)
  replicateM threads (takeMVar ended) >>= print . sum
  readIORef ref >>= print . sum . M.elems
