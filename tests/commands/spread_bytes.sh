# Of a list of 10^7 cells at another processing element 1,000 are read: at most 1 MB is sent for that.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
module Main (main) where
import Control.Exception
import Hecaton.Cluster
import System.Environment

-- Shared integers would not travel at all; these are others.
list :: Int -> IO [Int]
list n = do
  let xs = [1000000 .. 999999 + n]
  _ <- evaluate (sum xs)
  return xs

main :: IO ()
main = do
  [cells, reads] <- map read <$> getArgs
  xs <- remoteOn (PE 1) (list cells) >>= await
  print (sum (take reads xs))
HS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -outputdir o -o main Main.hs

# sent READS : the bytes that both send until READS cells are read.
sent() {
    timeout 120 "$HECATON" spread -n 2 ./main 10000000 "$1" +RTS -s >out 2>err || fail "$1: exit $?: $(tail -5 err)"
    [ "$(cat out)" = $((1000000 * $1 + $1 * ($1 - 1) / 2)) ] || fail "$1: the sum is $(cat out)"
    awk '$1 == "sum" { gsub(",", ""); print $3; exit }' err
}

bytes=$(sent 1000)
[ "${bytes:-0}" -ge 40000 ] || fail "1,000 cells in $bytes bytes: $(tail -8 err)"
[ "$bytes" -le 1000000 ] || fail "1,000 cells in $bytes bytes"
# What is counted grows with what is read.
bytes=$(sent 100000)
[ "${bytes:-0}" -ge 4000000 ] || fail "100,000 cells in $bytes bytes: $(tail -8 err)"
