# A limit on the heap (`-M`): a program that fits it runs at every limit at which the stock runtime runs it, and one
# that does not ends as there.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString as B
import qualified Data.Map.Strict as M
import System.Environment

-- Holds about 25 MB; whatever else is promoted is garbage.
maps :: IO ()
maps = do
  ms <- forM [1 .. 6 :: Int] $ \k -> evaluate (M.fromList [(i, i * k) | i <- [1 .. 50000 :: Int]])
  xs <- forM [1 .. 12 :: Int] $ \k -> evaluate (M.size (M.map (+ k) (ms !! (k `mod` 6))))
  print (sum xs, sum (map M.size ms))

-- Arrays of 5 MB, of which two are alive at a time.
arrays :: Int -> B.ByteString -> IO Int
arrays 0 b = return (B.length b)
arrays n b = do
  next <- evaluate (B.replicate 5000000 (fromIntegral n))
  _ <- evaluate (B.head b)
  arrays (n - 1) next

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["maps"] -> maps
    ["arrays"] -> arrays 40 (B.replicate 5000000 1) >>= print
    -- Both at a time, the arrays in another thread.
    ["both"] -> do
      done <- newEmptyMVar
      _ <- forkIO (arrays 40 (B.replicate 5000000 1) >>= putMVar done)
      maps
      takeMVar done >>= print
    -- An array that does not fit beside what is alive, and one that does once what has died is gone.
    ["beside"] -> do
      m <- evaluate (M.fromList [(i, i) | i <- [1 .. 100000 :: Int]])
      r <- try (evaluate (B.length (B.replicate 28000000 1)))
      putStrLn (either (\e -> "caught " ++ show (e :: AsyncException)) show r)
      print (M.size m)
      n <- evaluate (B.length (B.replicate 14000000 1))
      print n
      n' <- evaluate (B.length (B.replicate 14000000 2))
      print (n' + M.size m)
    _ -> error "what?"
END
ghc -v0 -O -threaded -rtsopts -outputdir stock -o stock-main Main.hs
"$HECATON" ghc -v0 -O -rtsopts -outputdir plain -o plain-main Main.hs
"$HECATON" ghc -v0 -O -threaded -rtsopts -outputdir threaded -o threaded-main Main.hs

# at_limits PROGRAM EXPECTED MAIN… -- LIMIT… : as stock where that succeeds.
at_limits() {
    local program=$1 expected=$2 ran=0 limit main mains=()
    shift 2
    while [ "$1" != -- ]; do
        mains+=("$1")
        shift
    done
    shift
    for limit; do
        [ "$(./stock-main $program +RTS "-M$limit" 2>&1)" = "$expected" ] || continue
        ran=$((ran + 1))
        for main in "${mains[@]}"; do
            says "$expected" ${main%% *} $program +RTS "-M$limit" ${main#./*-main}
        done
    done
    [ $ran -ge 3 ] || fail "$program: the stock runtime ran at $ran limits only"
}

at_limits maps '(600000,300000)' ./plain-main './threaded-main -N2' -- 27m 28m 30m 34m 43m 45m 46m 60m
at_limits maps '(600000,300000)' './plain-main -G3' './threaded-main -N2 -A4m' -- 32m 40m 45m 50m
at_limits arrays 5000000 ./plain-main './threaded-main -N2' -- 12m 18m 24m 30m 40m
at_limits both '(600000,300000)
5000000' ./plain-main './threaded-main -N2' -- 46m 50m 60m 80m 100m

# Too little, in any case: the stock runtime's text and exit code.
for main in ./stock-main ./plain-main ./threaded-main; do
    got=0
    $main maps +RTS -M12m >out 2>err || got=$?
    [ $got = 251 ] || fail "$main: exit $got"
    sed -i "s/^[a-z]*-main/main/" err
    [ ! -e expected ] || diff err expected || fail "$main said $(cat err)"
    mv err expected
done

for main in ./plain-main ./threaded-main './threaded-main -N2'; do
    says 'caught heap overflow
100000
14000000
14100000' ${main%% *} beside +RTS -M32m ${main#./*-main}
done
