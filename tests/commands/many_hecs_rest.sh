# HECs that rest keep no OS thread each, up to 64 on two cores: one watches the events of those beyond the cores.
# Threads that are pinned to all of them wait for time and for descriptors, and each wait ends, at its time.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Monad
import GHC.Clock (getMonotonicTime)
import System.Directory
import System.Posix.IO

main :: IO ()
main = do
  n <- getNumCapabilities
  pipes <- replicateM n createPipe
  answers <- newChan
  late <- newMVar 0
  forM_ (zip [0 ..] pipes) $ \(hec, (from, _)) -> do
    _ <- forkOn hec . forM_ [1 .. 20 :: Int] $ \_ -> do
      threadWaitRead from
      _ <- fdRead from 1
      writeChan answers hec
    forkOn hec . forM_ [1 .. 40 :: Int] $ \i -> do
      begin <- getMonotonicTime
      threadDelay (5000 + 100 * ((hec + i) `mod` 20))
      end <- getMonotonicTime
      when (end - begin > 0.5) (modifyMVar_ late (return . (+ 1)))
  -- One descriptor at a time, then all.
  forM_ [1 .. 10 :: Int] $ \_ -> forM_ (zip [0 ..] pipes) $ \(hec, (_, to)) -> do
    _ <- fdWrite to "x"
    got <- readChan answers
    when (got /= (hec :: Int)) (print (got, hec))
  replicateM_ 10 $ do
    forM_ pipes (\(_, to) -> fdWrite to "x")
    replicateM n (readChan answers)
  threadDelay 400000
  osThreads <- length <$> listDirectory "/proc/self/task"
  when (osThreads > 40) (putStrLn ("OS threads: " ++ show osThreads))
  readMVar late >>= print
END
"$HECATON" ghc -v0 -O -threaded -rtsopts -package unix -package directory -o main Main.hs
for run in '64 --io-manager=epoll' '64 --io-manager=io_uring' '8 --io-manager=poll' '5 --io-manager=epoll' '64 -V0'; do
    says "$(echo 0)" timeout 80 ./main +RTS -N$run
done
