# Copies of other processing elements' objects count against -M, and are dropped when memory is short. What is needed
# again is fetched again: values of many types, of which more is read than fits, are right each time.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Evict.hs <<'HS'
import Control.Exception
import Control.Monad
import Data.Array
import qualified Data.ByteString.Char8 as B
import Data.List (foldl')
import qualified Data.Map.Strict as M
import qualified Data.Text as T
import Hecaton.Cluster
import System.Environment

-- What each of the others has: about 10 MB of different types, functions among them.
data Owned = Owned [Int] (M.Map Int String) [T.Text] (Array Int (Int, Int)) [B.ByteString] [Int -> Int]

owned :: Int -> Int -> IO Owned
owned n k = do
  let xs = [k .. k + n]
      strings = M.fromList [(i, show (i * k)) | i <- [1 .. n `div` 20]]
      texts = [T.pack (show i) | i <- [k .. k + n `div` 10]]
      pairs = listArray (0, n `div` 10) [(i, i * k) | i <- [0 ..]]
      bytes = [B.pack (show i ++ replicate 20 'x') | i <- [k .. k + n `div` 20]]
      functions = [\x -> x * i + k | i <- [1 .. n `div` 20]]
      all' = Owned xs strings texts pairs bytes functions
  _ <- evaluate (digest all')
  pure all'

digest :: Owned -> Int
digest (Owned xs strings texts pairs bytes functions) =
  foldl' mix 0 (sum xs : map length (M.elems strings) ++ map T.length texts ++ [a - b | (a, b) <- elems pairs]
    ++ map (\b -> B.length b + B.count 'x' b) bytes ++ zipWith ($) functions [1 ..])
  where
    mix a x = (a * 31 + x) `mod` 1000000007

main :: IO ()
main = do
  [n, rounds] <- map read <$> getArgs
  pes <- numPEs
  let others = [1 .. 3 :: Int]
  values <- forM others $ \k ->
    if pes == 1 then owned n k else remoteOn (PE (fromIntegral (1 + k `mod` (pes - 1)))) (owned n k) >>= await
  forM_ [1 .. rounds :: Int] $ \_ -> forM_ values $ \value -> evaluate (digest value) >>= print
HS
"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -package array -package bytestring -package containers \
    -package text -outputdir o -o evict Evict.hs
./evict 120000 3 >expected
run() {
    timeout 200 "$HECATON" spread -n 4 ./evict 120000 3 "$@" -s >out 2>err || fail "$*: exit $?: $(tail -5 err)"
    diff expected out || fail "$* answers otherwise"
}
# fetches: of PE 0, the tenth column of the first table.
fetches() {
    awk '$1 == "PE" { first = $2 == "sent" } first && $1 == "0" { gsub(",", ""); print $10; exit }' err
}
run +RTS
enough=$(fetches)
run +RTS -M26m
[ "$(fetches)" -gt $((enough * 3 / 2)) ] || fail "nothing is fetched again: $(fetches) after $enough"
run +RTS -M26m -N2
export HECATON_CHECK=heap
run +RTS -M26m
run +RTS -M26m -N2 -A64k
