-- Stable pointers keep their objects alive through C memory, many at a time, freed and reused.
import Control.Monad
import Foreign
import Foreign.StablePtr
import System.Mem
import Data.IORef

main :: IO ()
main = do
  sps <- forM [1 .. 1000 :: Int] $ \i -> newStablePtr (show i, [i .. i + 3])
  performMajorGC
  xs <- mapM deRefStablePtr sps
  print (sum (map (sum . snd) xs), fst (last xs))
  buf <- mallocArray 1000 :: IO (Ptr (Ptr ()))
  pokeArray buf (map castStablePtrToPtr sps)
  performMajorGC
  ys <- peekArray 1000 buf
  zs <- mapM (deRefStablePtr . castPtrToStablePtr) ys :: IO [(String, [Int])]
  print (map fst (take 3 zs))
  mapM_ freeStablePtr sps
  more <- forM [1 .. 3000 :: Int] (newStablePtr . Just)
  performMinorGC
  s <- foldM (\acc sp -> maybe acc (+ acc) <$> deRefStablePtr sp) 0 more
  print s
  r <- newIORef 'a'
  spr <- newStablePtr r
  performMajorGC
  r' <- deRefStablePtr spr
  writeIORef r' 'b'
  readIORef r >>= print
  print (castPtrToStablePtr nullPtr == (castPtrToStablePtr nullPtr :: StablePtr ()))
  free buf
