-- rts/OSThreads.h: threads, mutexes, conditions, thread-local keys and affinity, as C finds them; then stg_exit ends
-- the process.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_os_threads_c.c
module Exported where

import Control.Concurrent

foreign export ccall answer :: Int -> IO Int

answer :: Int -> IO Int
answer n = threadDelay 1 >> return (n + 1)
