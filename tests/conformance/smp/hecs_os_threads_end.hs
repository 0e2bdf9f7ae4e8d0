-- OS threads that come, work with other threads, and end leave nothing behind: neither stacks that others ran on nor
-- what the runtime knows of them. Also in bursts of blocking foreign calls, each of which needs an OS thread.
-- ghc: -threaded
-- args: +RTS -N1 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign.C.Types

foreign import ccall safe "usleep" usleep :: CUInt -> IO CInt

visitor :: Int -> IO Int
visitor i = do
  result <- newEmptyMVar
  _ <- forkOS $ do
    answer <- newEmptyMVar
    _ <- forkIO (yield >> (putMVar answer $! sum [1 .. i `mod` 10]))
    takeMVar answer >>= putMVar result
  takeMVar result

burst :: Int -> IO ()
burst n = do
  ended <- newEmptyMVar
  replicateM_ n (forkIO (usleep 20000 >>= putMVar ended))
  replicateM_ n (takeMVar ended)

-- Mappings: a stack is two.
mappings :: IO Int
mappings = readFile "/proc/self/maps" >>= evaluate . length . lines

main :: IO ()
main = do
  let some = do
        total <- sum <$> mapM visitor [1 .. 300]
        burst 30
        return total
  first <- some
  before <- mappings
  rest <- replicateM 4 some
  after <- mappings
  print (first, rest)
  putStrLn (if after - before < 100 then "nothing stays" else show (after - before) ++ " more mappings")
