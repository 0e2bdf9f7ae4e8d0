# Requests for more than the system can give are heap overflows, at once, that a handler catches: they take none of the
# machine's memory.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Exception
import Control.Monad
import qualified Data.ByteString as B
import GHC.Exts
import GHC.IO (IO (..))
import System.Environment

ways :: [Int -> IO ()]
ways =
  [ \(I# n) -> IO $ \s -> case newByteArray# n s of (# s', _ #) -> (# s', () #)
  , \(I# n) -> IO $ \s -> case newPinnedByteArray# n s of (# s', _ #) -> (# s', () #)
  , \(I# n) -> IO $ \s -> case newAlignedPinnedByteArray# n 4096# s of (# s', _ #) -> (# s', () #)
  , \n -> case n `div` 8 of I# k -> IO $ \s -> case newArray# k 'x' s of (# s', _ #) -> (# s', () #)
  , \n -> case n `div` 8 of I# k -> IO $ \s -> case newSmallArray# k 'x' s of (# s', _ #) -> (# s', () #)
  , \n -> case int2Word# (case n of I# k -> k) of w -> IO $ \s -> case compactAllocateBlock# w nullAddr# s of (# s', _ #) -> (# s', () #)
  , \n -> void (evaluate (B.replicate n 7))
  ]

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["all", bytes] -> do
      said <- forM ways $ \ask -> try (ask (read bytes))
      putStrLn (unwords [either (\e -> show (e :: AsyncException)) (const "granted") r | r <- said])
    ["one", bytes] -> void (evaluate (B.replicate (read bytes) 7))
    -- How often requests that can be met are granted.
    ["granted", bytes] -> replicateM 20 (evaluate (B.length (B.replicate (read bytes) 7))) >>= print . length
    _ -> error "what?"
END
"$HECATON" ghc -v0 -O -rtsopts -outputdir plain -o plain-main Main.hs
"$HECATON" ghc -v0 -O -rtsopts -threaded -outputdir threaded -o threaded-main Main.hs

overflow='heap overflow'
all="$overflow $overflow $overflow $overflow $overflow $overflow $overflow"
machine=$(awk '/^(MemTotal|SwapTotal):/ { n += $2 } END { print n * 1024 }' /proc/meminfo)

for main in ./plain-main ./threaded-main; do
    # More than this machine has, and more than any has.
    for bytes in $((machine + 1000000)) $((machine * 2)) 1000000000000 1000000000000000 $((1 << 62)); do
        says "$all" $main all $bytes
    done
    says "$all" $main all 2000000000 +RTS -M500m
    says 20 $main granted 30000000
    # Less than the machine has, but more than the process may take.
    (
        ulimit -v 2000000
        says "$all" $main all 2100000000
        says 20 $main granted 30000000
    )
    (
        ulimit -d 500000
        says "$all" $main all 600000000
        says 20 $main granted 30000000
    )
    # Uncaught: as for every heap that overflows.
    got=0
    $main one 1000000000000 2>err || got=$?
    [ $got = 251 ] || fail "$main: exit $got"
    grep -qi 'out of memory' err || fail "$main said $(cat err)"
    got=0
    $main one 1000000000000 +RTS -M500m 2>err || got=$?
    [ $got = 251 ] || fail "$main with a limit: exit $got"
    grep -q 'Current maximum heap size is 524288000 bytes' err || fail "$main with a limit said $(cat err)"
done

# In a control group, where we may make one.
group=/sys/fs/cgroup/hecaton-$$
file=memory.max
if [ -d /sys/fs/cgroup/memory ]; then
    group=/sys/fs/cgroup/memory/hecaton-$$
    file=memory.limit_in_bytes
fi
if mkdir -p $group/inner 2>/dev/null; then
    if echo 300000000 2>/dev/null >$group/$file; then
        limited() (
            echo $BASHPID >$group/inner/cgroup.procs
            exec "$@"
        )
        says "$all" limited ./plain-main all 400000000
        says 20 limited ./plain-main granted 30000000
    fi
    rmdir $group/inner $group
fi
