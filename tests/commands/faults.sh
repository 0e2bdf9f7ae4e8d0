# What a program meets when the system gives it less than it wants: it runs all the same, or ends with a message and an
# exit code.
. "${BASH_SOURCE[0]%/*}/common.bash"

# within KILOBYTES COMMAND… : with that much address space.
within() (
    ulimit -v "$1"
    shift
    exec "$@"
)

# ends CODE TEXT COMMAND… : the command must end with that code and say one line, `…TEXT…`, on stderr.
ends() {
    local code=$1 text=$2 got=0
    shift 2
    "$@" 2>err >out || got=$?
    [ "$got" = "$code" ] || fail "$*: exit $got instead of $code: $(cat err)"
    [ "$(grep -c . err)" = 1 ] || fail "$*: said other than one line: $(cat err)"
    grep -qi "$text" err || fail "$*: said $(cat err), not $text"
}

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString as B
import qualified Data.Map.Strict as M
import Foreign.Ptr
import Foreign.StablePtr
import System.Environment
import System.IO

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["hello"] -> putStrLn "hello"
    -- OS threads, handed the work by each other.
    ["threads"] -> do
      done <- newEmptyMVar
      forM_ [1 .. 20 :: Int] $ \i -> forkOS (threadDelay 1000 >> putMVar done i)
      xs <- replicateM 20 (takeMVar done)
      print (sum xs)
    ["grow"] -> print (M.size (M.fromList [(i, show i) | i <- [1 .. 20000000 :: Int]]))
    ["large"] -> print (B.length (B.replicate 2000000000 0))
    ["caught"] -> do
      r <- try (evaluate (B.length (B.replicate 2000000000 0)))
      putStrLn (either (\e -> "caught " ++ show (e :: AsyncException)) show r)
    ["lines"] -> mapM_ print [1 .. 10000 :: Int]
    ["flush"] -> putStrLn "hello" >> hFlush stdout
    ["line"] -> getLine >>= putStrLn
    -- Stable pointers take no Haskell heap, only tables; they are numbers given out in order.
    ["tables"] -> do
      first <- (`minusPtr` nullPtr) . castStablePtrToPtr <$> newStablePtr ()
      replicateM_ 4000000 (newStablePtr ())
      forM_ [first .. first + 4000000] (freeStablePtr . castPtrToStablePtr . plusPtr nullPtr)
      putStrLn "freed"
    _ -> error "what?"
END
"$HECATON" ghc -v0 -O -outputdir plain -o plain-main Main.hs
"$HECATON" ghc -v0 -O -threaded -outputdir threaded -o threaded-main Main.hs

for main in ./plain-main ./threaded-main; do
    for kilobytes in 4000000 600000 200000; do
        says hello within $kilobytes $main hello
        ends 251 'out of memory' within $kilobytes $main grow
    done
    # An array too large is an exception.
    ends 251 'out of memory' within 600000 $main large
    says 'caught heap overflow' within 600000 $main caught

    # The runtime's own tables meet the same end.
    for kilobytes in 140000 180000 200000 220000; do
        ends 251 'out of memory' within $kilobytes $main tables
    done
    says freed $main tables

    # With next to nothing: it runs, or says what is missing.
    for ((kilobytes = 120000; kilobytes >= 20000; kilobytes -= 4000)); do
        got=0
        within $kilobytes $main hello >out 2>err || got=$?
        if [ $got = 0 ]; then
            [ "$(cat out)" = hello ] || fail "$main in $kilobytes KB printed $(cat out)"
        elif [ $got -ge 128 ] && [ $got != 251 ]; then
            fail "$main in $kilobytes KB: exit $got: $(cat err)"
        else
            [ "$(wc -l <err)" = 1 ] || fail "$main in $kilobytes KB said $(cat err)"
        fi
    done

    # Closed or full: as on the stock runtime, what is lost at the end is not missed, what is written before is.
    $main hello >&- || fail "$main hello with stdout closed: exit $?"
    for to in '>&-' '>/dev/full'; do
        ends 1 '<stdout>' bash -c "$main lines $to"
    done
    ends 1 'No space left' bash -c "$main flush >/dev/full"
    ends 1 '<stdin>' bash -c "$main line <&-"
    says hello bash -c "$main hello 2>&-"
    got=0
    $main what 2>&- || got=$?
    [ $got = 1 ] || fail "$main with an error and stderr closed: exit $got"

    ends 1 'nonsense.*knows' env HECATON_CHECK=nonsense $main hello
    got=0
    HECATON_CHECK=nonsense $main hello 2>&- || got=$?
    [ $got = 1 ] || fail "$main with a wrong HECATON_CHECK and stderr closed: exit $got"
done
says 210 within 4000000 ./threaded-main threads
got=0
within 100000 ./threaded-main threads >out 2>err || got=$?
[ $got -lt 128 ] || [ $got = 251 ] || fail "threads in 100 MB: exit $got: $(cat err)"
