# A HEC whose thread is in an unsafe call, or in a loop that does not allocate, has its timers and descriptors served by
# another HEC before the thread returns: by one that rests, and by one that runs another thread. That one does not fill
# its nursery meanwhile, because a collection would have to wait for the stuck HEC.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Bits (xor)
import Foreign.C.Types (CInt (..))
import GHC.Clock (getMonotonicTime)
import System.Environment
import System.Posix.IO

foreign import ccall unsafe "usleep" sleepHere :: CInt -> IO CInt

-- About half a second without allocating.
spin :: Int -> Int -> Int
spin 0 x = x
spin n x = spin (n - 1) (x * 6364136223846793005 `xor` n)
{-# NOINLINE spin #-}

-- Waits that a pinned thread on another HEC has begun end although that HEC is stuck.
besides :: Int -> String -> IO () -> IO ()
besides hec name occupy = do
  (r, w) <- createPipe
  begun <- newEmptyMVar
  ended <- newEmptyMVar
  _ <- forkOn hec $ do
    delay <- registerDelay 20000
    (readable, _) <- threadWaitReadSTM r
    putMVar begun (delay, readable)
    yield
    occupy
    getMonotonicTime >>= putMVar ended
  (delay, readable) <- takeMVar begun
  threadDelay 5000
  _ <- fdWrite w "x"
  atomically readable
  atomically (readTVar delay >>= check)
  served <- getMonotonicTime
  returned <- takeMVar ended
  putStrLn (name ++ ": " ++ if served + 0.1 < returned then "served before it returns" else "not served before")
  mapM_ closeFd [r, w]

main :: IO ()
main = runInUnboundThread $ do
  busy : _ <- getArgs
  when (busy == "busy") (void (forkOn 0 (mapM_ (evaluate . spin 100000) [1 ..])))
  n <- getNumCapabilities
  besides (n - 1) "unsafe call" (void (sleepHere 600000))
  t0 <- getMonotonicTime
  let rounds = 50000000
  spin rounds 1 `seq` return ()
  t1 <- getMonotonicTime
  let enough = ceiling (0.6 / (t1 - t0) * fromIntegral rounds :: Double)
  besides (n - 1) "loop" (spin enough 2 `seq` return ())
END
"$HECATON" ghc -v0 -O -threaded -rtsopts -package stm -o main Main.hs
served=$'unsafe call: served before it returns\nloop: served before it returns'
for run in '2 --io-manager=epoll' '4 --io-manager=poll'; do
    for other in rests busy; do
        says "$served" timeout 80 ./main $other +RTS -N$run
    done
done
