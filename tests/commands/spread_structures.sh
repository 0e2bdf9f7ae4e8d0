# I-structures and M-structures over several processing elements: variables, cells, and arrays in pieces.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
module Main (main) where
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Ix
import Hecaton.Cluster
import Hecaton.Cluster.Structures

at :: PE -> IO a -> IO a
at pe action = remoteOn pe action >>= await

variables :: PE -> IO ()
variables pe = do
  here <- newIVar
  there <- newIVarOn pe
  isFullIVar there >>= print
  -- Readers on both wait; each is filled from the other.
  readers <- forM [here, there] (\v -> remoteOn pe (evaluate (sum (readIVar v))))
  putIVar there [1 .. 100 :: Int]
  at pe (putIVar here [1 .. 1000])
  mapM await readers >>= print
  print (sum (readIVar here), sum (readIVar there))
  isFullIVar there >>= print
  r <- try (putIVar there [])
  print (r :: Either IVarFull ())
  r <- try (at pe (putIVar here []))
  print (r :: Either IVarFull ())
  tryPutIVar there [] >>= print
  -- An element that fails, fails for its readers.
  bad <- newIVarOn pe
  putIVar bad (throw Overflow)
  r <- try (evaluate (readIVar bad :: Int))
  print (r :: Either ArithException Int)
  -- A wait can be interrupted, and begun again.
  late <- newIVarOn pe
  done <- newEmptyMVar
  waiter <- forkIO ((evaluate (readIVar late) >>= print) `finally` putMVar done ())
  threadDelay 20000
  killThread waiter
  takeMVar done
  putIVar late 'l'
  print (readIVar late)

arrays :: IO ()
arrays = do
  n <- numPEs
  -- Each PE fills a part of a table whose elements need others.
  table <- newIArray ((0, 0), (99, 99))
  print (boundsIArray table)
  let cell (i, j) = if i == 0 || j == 0 then 1 else (table ! (i - 1, j) + table ! (i, j - 1)) `mod` 1000003 :: Int
  futures <- forM [0 .. n - 1] $ \k -> remoteOn (PE k) $
    forM_ [ij | ij <- range ((0, 0), (99, 99)), (fst ij + snd ij) `mod` n == k] (\ij -> writeIArray table ij (cell ij))
  mapM_ await futures
  print (table ! (99, 99))
  at (PE (n - 1)) (evaluate (sum [table ! (i, 50) | i <- [0 .. 99]])) >>= print
  print (length [() | k <- [0 .. n - 1], any ((== PE k) . pieceOf table) (range ((0, 0), (99, 99)))] == n)
  r <- try (writeIArray table (3, 4) 5)
  print (r :: Either IVarFull ())
  empty <- newIArray (1, 0 :: Int) :: IO (IArray Int Char)
  print (boundsIArray empty)

cells :: IO ()
cells = do
  n <- numPEs
  -- A histogram that all change.
  counts <- newMArray (0, 2999 :: Int) (0 :: Int)
  futures <- forM [0 .. n - 1] $ \k -> remoteOn (PE k) $
    forM_ [0 .. 199] (\j -> modifyMArray counts (j * 15 `mod` 3000) (\c -> pure (c + 1, ())))
  mapM_ await futures
  total <- sum <$> mapM (takeMArray counts) [0, 15 .. 2985]
  print (total == 200 * n)
  putMArray counts 0 7
  takeMArray counts 0 >>= print
  cell <- newMCellOn (PE (n - 1)) 'c'
  taken <- takeMCell cell
  print taken
  waiting <- remoteOn (PE 0) (takeMCell cell)
  putMCell cell 'd'
  await waiting >>= print
  putMCell cell 'e'
  r <- try (modifyMCell cell (\_ -> throwIO Underflow))
  print (r :: Either ArithException ())
  takeMCell cell >>= print

main :: IO ()
main = do
  n <- numPEs
  forM_ (map PE (if n == 1 then [0] else [1 .. n - 1])) variables
  arrays
  cells
HS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -outputdir o -o main Main.hs
cat >variables <<'TXT'
False
[500500,5050]
(500500,5050)
True
Left IVarFull
Left IVarFull
False
Left arithmetic overflow
'l'
TXT
cat >rest <<'TXT'
((0,0),(99,99))
820498
47028250
True
Left IVarFull
(1,0)
True
7
'c'
'd'
Left arithmetic underflow
'e'
TXT
run() {
    local n=$1
    shift
    timeout 200 "$HECATON" spread -n "$n" ./main "$@" >out 2>err || fail "-n $n $*: exit $?: $(tail -5 err)"
    { for ((pe = 1; pe < n || pe == 1; pe++)); do cat variables; done; cat rest; } | diff - out || fail "-n $n $*"
}
run 1
run 2
run 3 +RTS -N2
HECATON_CHECK=heap run 2 +RTS -A256k
# The package alone, on the stock runtime.
"$HECATON" ghc -v0 -O -threaded -package hecaton -outputdir o -o alone Main.hs
./alone | cat - | diff <(cat variables rest) - || fail alone
