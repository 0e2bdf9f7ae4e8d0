# +RTS --scheduler and HECATON_SCHEDULER: which thread runs next. A random order on one HEC depends on its seed alone:
# it is the same each time, and a program that only waits for time takes none.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign (Ptr, allocaBytes)
import Foreign.C
import GHC.Clock (getMonotonicTime)
import System.Environment
import System.Posix.IO
import System.Posix.Process
import System.Posix.Types
import System.Timeout

foreign import ccall safe "read" c_read :: Fd -> Ptr CChar -> CSize -> IO CSsize

-- The order in which things happen.
journal :: ((String -> IO ()) -> IO ()) -> IO ()
journal act = do
  said <- newIORef []
  act (\s -> atomicModifyIORef' said (\all' -> (s : all', ())))
  readIORef said >>= putStrLn . unwords . reverse

-- Five threads are made, and each runs twice.
order :: IO ()
order = journal $ \say -> do
  done <- newEmptyMVar
  forM_ "abcde" $ \c -> forkIO (say [c] >> yield >> say [c] >> putMVar done ())
  replicateM_ 5 (takeMVar done)

-- Threads that compute, wait for each other and for time, and write to a pipe.
mixture :: IO ()
mixture = journal $ \say -> do
  (from, to) <- createPipe
  box <- newEmptyMVar
  total <- newTVarIO (0 :: Int)
  done <- newEmptyMVar
  forM_ "abc" $ \c -> forkIO $ do
    forM_ [1 .. 4 :: Int] $ \k -> do
      n <- evaluate (length (show (product [1 .. fromIntegral (100 * k) :: Integer])))
      atomically (modifyTVar' total (+ n))
      say (c : show k)
      when (k == 2) (threadDelay (if c == 'b' then 1000 else 3000) >> putMVar box c)
      when (k == 3) (void (fdWrite to [c]))
    putMVar done ()
  _ <- forkIO (replicateM_ 3 (takeMVar box >>= \c -> say ['<', c]))
  late <- timeout 2000 (forever (takeMVar done >> say "done"))
  say (show (fmap (const ()) (late :: Maybe ())))
  atomically (readTVar total >>= check . (> 3000))
  fdRead from 3 >>= say . fst

main :: IO ()
main = do
  what : _ <- getArgs
  case what of
    "order" -> order
    "mixture" -> mixture >> mixture
    "hecs" -> getNumCapabilities >>= print
    "hours" -> do
      begin <- getMonotonicTime
      results <- newEmptyMVar
      forM_ [3, 1, 2] $ \n -> forkIO (threadDelay (n * 3600000000) >> putMVar results n)
      replicateM 3 (takeMVar results) >>= print
      timeout 7200000000 (newEmptyMVar >>= \v -> forkIO (threadDelay 9000000000 >> putMVar v ()) >> takeMVar v) >>= print
      end <- getMonotonicTime
      print (end - begin < 60)
    -- What comes from outside takes its time.
    "outside" -> do
      (from, to) <- createPipe
      _ <- forkIO (threadDelay 50000 >> void (fdWrite to "x"))
      n <- timeout 60000000 (allocaBytes 8 (\p -> c_read from p 8))
      print n
      _ <- forkIO (threadDelay 50000 >> void (fdWrite to "y"))
      timeout 60000000 (threadWaitRead from) >>= print
      -- A thread that computes between heap checks of any size.
      xs <- forM [1 .. 3] $ \k -> newEmptyMVar >>= \v -> forkIO (evaluate (sum [1 .. k * 100000 :: Int]) >>= putMVar v) >> return v
      mapM takeMVar xs >>= print
    "fork" -> do
      child <- forkProcess (threadDelay 3600000000)
      getProcessStatus True False child >>= print
    "deadlock" -> do
      r <- try (newEmptyMVar >>= takeMVar)
      print (r :: Either BlockedIndefinitelyOnMVar ())
    _ -> error "what?"
END
"$HECATON" ghc -v0 -O -rtsopts -package stm -o plain Main.hs
"$HECATON" ghc -v0 -O -threaded -rtsopts -package stm -o threaded Main.hs
"$HECATON" ghc -v0 -O -threaded -with-rtsopts=-N2 -package stm -o some Main.hs

for way in plain threaded; do
    says 'a b c d e a b c d e' ./$way order +RTS --scheduler=fifo
    says 'e d e d c b c b a a' ./$way order +RTS --scheduler=lifo
    says $'[1,2,3]\nNothing\nTrue' timeout 100 ./$way hours +RTS --scheduler=random:1
    says 'Just (Exited ExitSuccess)' timeout 20 ./$way fork +RTS --scheduler=random:1
    for name in fifo lifo random:1; do
        # (Without -threaded, a foreign call stops all threads.)
        [ $way = plain ] || says $'Just 1\nJust ()\n[5000050000,20000100000,45000150000]' timeout 20 ./$way outside +RTS --scheduler=$name
        says 'Left thread blocked indefinitely in an MVar operation' timeout 20 ./$way deadlock +RTS --scheduler=$name
    done
    rm -f seen
    for seed in 1 2 3 4 5 6; do
        timeout 20 ./$way mixture +RTS --scheduler=random:$seed >out
        cat out >>seen
        for again in 1 2 3; do
            timeout 20 ./$way mixture +RTS --scheduler=random:$seed -S/dev/null | cmp - out || fail "$way, seed $seed: another order"
        done
    done
    [ "$(sort -u seen | wc -l)" -ge 9 ] || fail "$way: seeds have the same orders: $(cat seen)"
done

# The variable is for programs that accept no such option. With a random order it starts them on one HEC.
HECATON_SCHEDULER=fifo says 2 ./some hecs
HECATON_SCHEDULER=random:1 says 1 ./some hecs
HECATON_SCHEDULER=random:1 says 2 ./threaded hecs +RTS -N2 --scheduler=fifo
HECATON_SCHEDULER=lifo says 'a b c d e a b c d e' ./plain order +RTS --scheduler=fifo
! HECATON_SCHEDULER=last ./some hecs 2>err || fail 'a wrong name is accepted'
grep -qx 'some: no such scheduler (there are fifo, lifo and random:<seed>): HECATON_SCHEDULER=last' err || fail "said $(cat err)"
! ./plain hecs +RTS --scheduler=last 2>err || fail 'a wrong option is accepted'
grep -q 'no such scheduler (there are fifo, lifo and random:<seed>): --scheduler=last' err || fail "said $(cat err)"
