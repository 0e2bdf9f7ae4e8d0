# Global collections: cycles of references over several processing elements are freed by `performGlobalGC`, and not
# before; what is live stays. Weak pointers tell what is freed, exceptions which threads nothing can wake. With the heap
# checker, and while other elements ask for collections, too. A program that makes cycles all the time does not grow.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
module Main (main) where
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Hecaton.Cluster
import Hecaton.Cluster.Structures
import System.Environment
import System.IO.Unsafe (unsafePerformIO)
import System.Mem

-- Each PE has its own of these: nodes that have been finalized, threads that could not be woken, and what it keeps.
finalized, lost :: IORef Int
finalized = unsafePerformIO (newIORef 0)
{-# NOINLINE finalized #-}
lost = unsafePerformIO (newIORef 0)
{-# NOINLINE lost #-}

keeper :: MVar [MVar Int]
keeper = unsafePerformIO (newMVar [])
{-# NOINLINE keeper #-}

increment :: IORef Int -> IO ()
increment ref = atomicModifyIORef' ref (\n -> (n + 1, ()))

at :: PE -> IO a -> IO a
at pe action = remoteOn pe action >>= await

-- A node refers to the next one of its cycle, at another PE.
data Node = Node Int [Int] (MVar Node)

-- A cycle of nodes at all these PEs. The first one is the answer.
cycleOver :: [PE] -> Int -> IO (MVar Node)
cycleOver pes k = do
  vars <- forM pes $ \pe -> at pe $ do
    var <- newEmptyMVar
    _ <- mkWeakMVar var (increment finalized)
    pure var
  forM_ (zip3 pes vars (tail vars ++ vars)) $ \(pe, var, next) ->
    at pe (let xs = [k .. k + 50] in length xs `seq` putMVar var (Node k xs next))
  pure (head vars)

walk :: Int -> MVar Node -> IO Int
walk 0 _ = pure 0
walk n var = do
  Node k xs next <- readMVar var
  (k + sum xs +) <$> walk (n - 1) next

-- I-structures that refer to each other.
data Link = Link Int (IVar Link)

linked :: [PE] -> Int -> IO Int
linked pes k = do
  vars <- mapM newIVarOn pes
  forM_ (zip3 [k ..] vars (tail vars ++ vars)) $ \(j, var, next) -> putIVar var (Link j next)
  let go n var | n == 0 = 0 | otherwise = let Link j next = readIVar var in j + go (n - 1 :: Int) next
  evaluate (go (2 * length pes) (head vars))

-- Two threads, each of which waits for what the other one would do.
deadlocked :: PE -> PE -> IO ()
deadlocked pe other = do
  [a, b] <- mapM (`at` newEmptyMVar) [pe, other]
  let waits at' mine theirs = at at' . void . forkIO $
        (takeMVar mine >> putMVar theirs ()) `catch` \BlockedIndefinitelyOnMVar -> increment lost
  waits pe a b
  waits other b a

countsOf :: IORef Int -> [PE] -> IO [Int]
countsOf ref pes = forM pes (`at` (performMajorGC >> yield >> readIORef ref))

-- Until finalizers and handlers have run.
waitFor :: IORef Int -> [PE] -> Int -> Int -> IO [Int]
waitFor ref pes wanted tries = do
  now <- countsOf ref pes
  if all (== wanted) now || tries == 0 then pure now else threadDelay 20000 >> waitFor ref pes wanted (tries - 1)

main :: IO ()
main = do
  [rounds, live] <- map read <$> getArgs
  n <- numPEs
  let pes = map PE [0 .. n - 1]
      neighbours = zip pes (tail pes ++ pes)
  kept <- mapM (cycleOver pes) [1 .. live]
  forM_ [1 .. rounds] $ \k -> cycleOver pes k >>= walk 3
  links <- forM [1 .. rounds] (linked pes)
  print (links == [2 * sum (take n [k ..]) | k <- [1 .. rounds]])
  mapM_ (uncurry deadlocked) neighbours
  -- A thread that is woken from another PE alone, which nothing here refers to.
  answer <- newEmptyMVar
  do var <- newEmptyMVar
     _ <- forkIO (takeMVar var >>= putMVar answer)
     at (last pes) (modifyMVar_ keeper (pure . (var :)))
  forM_ [1, 2 :: Int] $ \_ -> forM_ pes (`at` performMajorGC)
  threadDelay 10000
  before <- mapM (`countsOf` pes) [finalized, lost]
  print (n == 1 || before == [map (const 0) pes, map (const 0) pes])
  performGlobalGC
  waitFor finalized pes rounds 200 >>= print . all (== rounds)
  waitFor lost pes 2 200 >>= print . all (== 2)
  -- What was live is as it was, and what is live stays.
  performGlobalGC
  sums <- mapM (walk (2 * n)) kept
  print (sums == [2 * n * (k + sum [k .. k + 50]) | k <- [1 .. live]])
  at (last pes) (takeMVar keeper >>= mapM_ (`putMVar` 42))
  takeMVar answer >>= print
  -- Several ask at once, while all call.
  askers <- forM pes $ \pe -> remoteOn pe (replicateM_ 10 performGlobalGC)
  forM_ [1 .. rounds] $ \k -> cycleOver pes k >>= walk 3
  mapM_ await askers
  performGlobalGC
  waitFor finalized pes (2 * rounds) 200 >>= print . all (== 2 * rounds)
  sum <$> mapM (walk n) kept >>= print . (== sum [n * (k + sum [k .. k + 50]) | k <- [1 .. live]])
HS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -outputdir o -o main Main.hs

yes True | head -n 5 >expected
echo 42 >>expected
yes True | head -n 2 >>expected

run() {
    local n=$1
    shift
    timeout 200 "$HECATON" spread -n "$n" ./main "$@" >out 2>err || fail "-n $n $*: exit $?: $(tail -5 err)"
    diff expected out || fail "-n $n $*"
}
./main 20 5 >out
diff expected out || fail "alone"
run 2 50 5
run 3 30 5 +RTS -N2
run 4 20 5 +RTS -A64k
run 2 20 5 +RTS -s
# Each has done at least the three that PE 0 has asked for by itself.
awk '$1 == "PE" { second = $2 == "GCs" } second && $1 ~ /^[01]$/ && $5 >= 3 { n++ } END { exit n != 2 }' err ||
    fail "no global collections are counted: $(tail -5 err)"
export HECATON_CHECK=heap
run 2 10 3 +RTS -A64k -G1
run 3 10 3 +RTS -A64k -N2
run 4 5 3 +RTS -A64k -G1 -N2

# A thousand cycles with half a MB each: nobody asks for a collection.
unset HECATON_CHECK
cat >Main.hs <<'HS'
module Main (main) where
import Control.Concurrent
import Control.Monad
import Hecaton.Cluster
import System.IO

-- A node of some hundred KB, at PE 0 for the most part, refers to the next one.
data Node = Node [Int] (MVar Node)

-- The most memory that this process has had, in MB.
peak :: IO Int
peak = do
  text <- readFile "/proc/self/status"
  case [read (words line !! 1) | line <- lines text, take 6 line == "VmHWM:"] of
    kilobytes : _ -> pure (kilobytes `div` 1024)
    [] -> pure 0

at :: PE -> IO a -> IO a
at pe action = remoteOn pe action >>= await

main :: IO ()
main = do
  n <- numPEs
  let pes = map PE [0 .. n - 1]
  s <- foldM (\s k -> do
    vars <- forM pes (`at` newEmptyMVar)
    forM_ (zip3 pes vars (tail vars ++ vars)) $ \(pe, var, next) ->
      at pe (let xs = [k .. k + 20000] in length xs `seq` putMVar var (Node xs next))
    Node xs next <- readMVar (head vars)
    Node ys _ <- readMVar next
    let t = (s + sum (take 500 xs) + sum (take 500 ys)) `mod` 1000003
    t `seq` pure t) 7 [1 .. 1000 :: Int]
  print s
  peaks <- mapM (`at` peak) pes
  hPutStrLn stderr (show peaks ++ " MB")
  when (maximum peaks > 400) $ hPutStrLn stderr "TOO MUCH"
HS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -outputdir o2 -o main Main.hs
./main >expected 2>/dev/null
for n in 2 3; do
    timeout 200 "$HECATON" spread -n "$n" ./main >out 2>err || fail "memory, -n $n: exit $?: $(tail -5 err)"
    diff expected out || fail "memory, -n $n"
    ! grep 'TOO MUCH' err || fail "memory, -n $n: $(cat err)"
done
