-- RtsAPI.h within unsafe foreign calls: C makes Haskell values with the capability that it has there, between
-- allocations of the caller's own.
-- ghc: -O
-- c: ffi_unsafe_api_c.c
import Control.Monad
import Data.IORef
import Foreign.StablePtr
import System.Mem

foreign import ccall unsafe "make_int" makeInt :: Int -> IO (StablePtr Int)
foreign import ccall unsafe "make_double" makeDouble :: Double -> IO (StablePtr Double)
foreign import ccall unsafe "make_sum" makeSum :: StablePtr (Int -> Int) -> Int -> IO (StablePtr Int)
foreign import ccall unsafe "make_string" makeString :: IO (StablePtr String)
foreign import ccall unsafe "make_bytes" makeBytes :: Int -> IO Int
foreign import ccall unsafe "count_pointers" countPointers :: StablePtr (Int, String) -> IO Int
foreign import ccall unsafe "make_thread" makeThread :: StablePtr (IO ()) -> IO Int

main :: IO ()
main = do
  sums <- newIORef (0 :: Int, 0 :: Double)
  add <- newStablePtr (+ 1000)
  lengths <- forM [1 .. 20000] $ \n -> do
    -- Allocated right before and right after, in registers' reach of what C makes.
    let mine = [n, n + 1, n + 2]
    i <- makeInt n
    let more = map (* 2) mine
    d <- makeDouble (fromIntegral n)
    t <- if n `mod` 100 == 0 then Just <$> makeSum add n else return Nothing
    vi <- deRefStablePtr i
    vd <- deRefStablePtr d
    vt <- maybe (return 0) deRefStablePtr t
    modifyIORef' sums (\(a, b) -> let { a' = a + vi + vt + sum more; b' = b + vd } in a' `seq` b' `seq` (a', b'))
    freeStablePtr i
    freeStablePtr d
    mapM_ freeStablePtr t
    return $! length (show mine)
  print (sum lengths)
  readIORef sums >>= print
  s <- makeString
  deRefStablePtr s >>= putStrLn
  -- More than fits in a block; large ones; pinned ones.
  forM [1, 100, 1000, 3000, 40000] makeBytes >>= print
  action <- newStablePtr (putStrLn "never performed")
  forM [1 .. 300 :: Int] (\_ -> makeThread action) >>= print . sum
  pair <- newStablePtr $! (,) (length lengths) "pair"
  counts <- forM [1 .. 1000] $ \n -> do
    let mine = [n .. n + 4 :: Int]
    k <- countPointers pair
    return $! k + length (show mine)
  print (sum counts)
  performMajorGC
  deRefStablePtr s >>= putStrLn
