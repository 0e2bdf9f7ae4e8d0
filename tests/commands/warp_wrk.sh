# A warp server under load: wrk gets an answer to every request, and about as many of them as on the stock runtime,
# which serves at the same moment.
. "${BASH_SOURCE[0]%/*}/common.bash"
command -v wrk >/dev/null || { echo "wrk is not installed"; exit 77; }
ghc-pkg --simple-output list warp | grep -q warp || { echo "the Haskell package warp is not installed"; exit 77; }

cat >Server.hs <<'HASKELL'
{-# LANGUAGE OverloadedStrings #-}
import qualified Data.ByteString.Lazy.Char8 as L
import Network.HTTP.Types
import Network.Socket
import Network.Wai
import Network.Wai.Handler.Warp
import System.IO

main :: IO ()
main = do
  s <- socket AF_INET Stream defaultProtocol
  bind s (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen s 1024
  socketPort s >>= print
  hFlush stdout
  runSettingsSocket defaultSettings s $ \request respond ->
    respond (responseLBS status200 [("Content-Type", "text/plain")] (L.pack (concatMap show (pathInfo request) ++ replicate 200 'x')))
HASKELL

# rate NAME : requests per second of this server.
rate() {
    local name=$1 server port said
    mkfifo "$name.port"
    "./$name" >"$name.port" &
    server=$!
    trap 'kill -KILL "$server" 2>/dev/null || true' EXIT
    read -r port <"$name.port"
    said=$(wrk -t1 -c64 -d3s --timeout 60s "http://127.0.0.1:$port/a/page") || said="wrk failed: $said"
    kill -0 "$server" || fail "the server ($name) has died"
    kill -INT "$server"
    wait "$server" || true
    ! grep -q 'Socket errors\|Non-2xx\|failed' <<<"$said" || fail "$name: $said"
    awk '/^Requests\/sec/ { print int($2) }' <<<"$said"
}

ghc -v0 -O -threaded -outputdir stock.o -o stock Server.hs
"$HECATON" ghc -v0 -O -threaded -outputdir ours.o -o ours Server.hs
rate stock >stock.rate &
ours=$(rate ours)
wait $!
stock=$(cat stock.rate)
echo "requests a second: $ours, on the stock runtime $stock"
# The machine may be busy with other things; half as fast would be a fault all the same.
[ $((2 * ours)) -gt "$stock" ] || fail "$ours requests a second; the stock runtime serves $stock"
