# Memory over several processing elements: what others do not need any more is freed. Programs that call, lend and
# answer all the time do not grow. With the heap checker, and a full collection for each 64 KB that are allocated,
# nothing that is needed is freed. spread_global.sh has cycles of references.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
module Main (main) where
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as B
import qualified Data.Map as M
import Hecaton.Cluster
import System.Environment
import System.IO
import System.Mem

-- The most memory that this process has had, in MB.
peak :: IO Int
peak = do
  text <- readFile "/proc/self/status"
  case [read (words line !! 1) | line <- lines text, take 6 line == "VmHWM:"] of
    kilobytes : _ -> pure (kilobytes `div` 1024)
    [] -> pure 0

-- A few KB that the other one makes, that are made here, or both; and the same with parts that are not evaluated, with
-- bytes, and with values that are passed on to a third.
kinds :: [PE] -> [(String, Int -> IO Int)]
kinds others =
  [ ("results", \k -> do
      xs <- remoteOn (at k) (let ys = [k .. k + 100] in length ys `seq` pure ys) >>= await
      evaluate (sum xs))
  , ("arguments", \k -> do
      let t = M.fromList [(j, show j) | j <- [k .. k + 30]]
      remoteOn (at k) (evaluate (M.foldl' (\s x -> s + length x) 0 t)) >>= await)
  , ("loans", \k -> evaluate (sum [on (at (k + j)) (sum (map (length . show) [k .. k + 40])) | j <- [0, 1]]))
  , ("lazy", \k -> do
      xs <- remoteOn (at k) (pure (map (* 2) [k .. k + 3])) >>= await
      evaluate (sum xs))
  , ("bytes", \k -> do
      b <- remoteOn (at k) (evaluate (B.replicate (3000 + k `mod` 9000) 'x')) >>= await
      evaluate (B.length b))
  , ("passed on", \k -> do
      xs <- remoteOn (at k) (let ys = [k .. k + 50] in length ys `seq` pure ys) >>= await
      remoteOn (at (k + 1)) (evaluate (sum xs)) >>= await)
  , ("kept", \k -> do
      var <- remoteOn (at k) (newMVar [k]) >>= await
      modifyMVar_ var (pure . (1 :))
      sum <$> readMVar var)
  ]
  where at k = others !! (k `mod` length others)

main :: IO ()
main = do
  [kind, count, limit] <- getArgs
  n <- numPEs
  let others = map PE (if n == 1 then [0] else [1 .. n - 1])
      chosen = [action | (name, action) <- kinds others, kind `elem` [name, "all"]]
      rounds = read count :: Int
      step s k = do
        xs <- mapM ($ k) chosen
        let t = (s * 31 + sum xs) `mod` 1000003
        t `seq` pure t
  -- What is made first and needed last stays.
  early <- forM others $ \pe -> remoteOn pe (pure (map show [1 .. 300 :: Int])) >>= await
  s <- foldM step 7 [1 .. rounds]
  performGC
  print (s, map (sum . map length) early)
  peaks <- forM others $ \pe -> remoteOn pe peak >>= await
  here <- peak
  hPutStrLn stderr (kind ++ ": " ++ show (here : peaks) ++ " MB")
  when (maximum (here : peaks) > read limit) $ hPutStrLn stderr "TOO MUCH"
HS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -package containers -package bytestring -outputdir o -o main \
    Main.hs

# Each makes some hundred MB.
run() {
    local n=$1 kind=$2 count=$3 limit=$4
    shift 4
    ./main "$kind" "$count" 100000 >expected 2>/dev/null
    sed "s/\[.*\]/[$(yes 792 | head -n $((n - 1)) | paste -sd,)]/" expected >wanted
    timeout 300 "$HECATON" spread -n "$n" ./main "$kind" "$count" "$limit" "$@" >out 2>err ||
        fail "-n $n $kind $*: exit $?: $(tail -5 err)"
    diff wanted out || fail "-n $n $kind $*"
    ! grep 'TOO MUCH' err || fail "-n $n $kind $*: $(cat err)"
    cat err
}
run 2 results 100000 130
run 2 arguments 50000 120
run 2 bytes 20000 120
run 2 lazy 10000 120
run 2 kept 10000 120
run 3 loans 20000 120
run 3 'passed on' 50000 120
run 3 results 50000 120 +RTS -N2

export HECATON_CHECK=heap
run 2 all 100 1000 +RTS -G1 -A64k
run 3 all 100 1000 +RTS -G1 -A64k -N2
