-- A C main that starts the runtime, calls exported functions, and stops it.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_c_main_c.c
-- args: one two +RTS -A128k -RTS three
module Exported where

import Control.Concurrent
import Control.Exception
import Data.IORef
import Foreign
import Foreign.C
import System.Environment
import System.IO
import System.IO.Unsafe

foreign export ccall addUp :: CInt -> CInt -> IO CInt
foreign export ccall scale :: CDouble -> CDouble
foreign export ccall report :: IO ()
foreign export ccall describe :: CString -> CInt -> IO CString
foreign export ccall viaThreads :: CInt -> IO CInt

total :: IORef CInt
total = unsafePerformIO (newIORef 0)
{-# NOINLINE total #-}

addUp :: CInt -> CInt -> IO CInt
addUp a b = atomicModifyIORef' total (\t -> (t + a * b, t + a * b))

scale :: CDouble -> CDouble
scale x = x * 2.5

report :: IO ()
report = do
  args <- getArgs
  t <- readIORef total
  putStrLn ("args " ++ show args ++ " total " ++ show t)
  hFlush stdout

describe :: CString -> CInt -> IO CString
describe s n = peekCString s >>= \h -> newCString (concat (replicate (fromIntegral n) h))

viaThreads :: CInt -> IO CInt
viaThreads n = do
  vs <- mapM (\i -> do { v <- newEmptyMVar; _ <- forkIO (evaluate (i * i) >>= putMVar v); return v }) [1 .. n]
  sum <$> mapM takeMVar vs
