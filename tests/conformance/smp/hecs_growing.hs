-- HECs are added one by one while threads come back from foreign calls: none of these may take one that is not there
-- yet.
-- ghc: -threaded -O
-- skip-order: it needs several HECs
-- skip-kinds: -N2 -N4; it takes HECs away, and a scheduler of the package keeps those that it has
{-# LANGUAGE ForeignFunctionInterface #-}
import Control.Concurrent
import Control.Monad
import Data.IORef
import Foreign.C.Types

foreign import ccall safe "usleep" pause :: CUInt -> IO CInt

main :: IO ()
main = do
  stop <- newIORef False
  ended <- newEmptyMVar
  let threads = 12 :: Int
      calls :: Int -> IO Int
      calls n = do
        done <- readIORef stop
        if done then pure n else pause 20 >> (calls $! foldr (\i a -> (a + i * n) `mod` 1000003) 1 [1 .. 3000])
  forM_ [1 .. threads] $ \t -> forkIO (calls t >>= \n -> putMVar ended $! n - n)
  forM_ [1 .. 60] $ \n -> setNumCapabilities n >> pause 300
  writeIORef stop True
  zeros <- replicateM threads (takeMVar ended)
  getNumCapabilities >>= print . (+ sum zeros)
