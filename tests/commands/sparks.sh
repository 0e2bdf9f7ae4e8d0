# Of a tree of sparks, HECs leave alone what others are at already, so that next to nothing is evaluated twice. (On the
# stock runtime some of it is: so this cannot be a conformance program.)
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Tree.hs <<'END'
import Control.Monad
import Data.IORef
import Data.List
import GHC.Conc
import System.IO.Unsafe

-- Leaves that have been evaluated, each as often as it was.
leaves :: IORef Int
leaves = unsafePerformIO (newIORef 0)
{-# NOINLINE leaves #-}

tree :: Int -> Int -> Int
tree 0 k = unsafeDupablePerformIO (atomicModifyIORef' leaves (\c -> (c + 1, ()))) `seq` work 30000 k
tree n k = left `par` (right `seq` (left + right))
  where
    left = tree (n - 1) (2 * k)
    right = tree (n - 1) (2 * k + 1)
{-# NOINLINE tree #-}

work :: Int -> Int -> Int
work 0 acc = acc `mod` 1009
work n acc = work (n - 1) (acc * 1103515245 + 12345)
{-# NOINLINE work #-}

main :: IO ()
main = do
  extra <- forM [1 .. 15] $ \k -> do
    writeIORef leaves 0
    let result = tree 11 k
    evaluated <- result `seq` readIORef leaves
    return (evaluated - 2 ^ (11 :: Int))
  let median = sort extra !! 7
  putStrLn (if median >= 0 && median < 100 then "once and a bit" else "again and again: " ++ show (sort extra))
END
"$HECATON" ghc -v0 -O -threaded -rtsopts -outputdir . -o tree Tree.hs
for n in 1 2 4; do
    says 'once and a bit' ./tree +RTS -N$n
done
