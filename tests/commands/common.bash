# What the scripts of this folder share.

# A PE that crashes is an error here, and no loss to go on from.
export HECATON_LOSS=end

fail() {
    echo "$*" >&2
    exit 1
}

# refused CODE TEXT COMMAND… : the command must end with that code and say one line, `hecaton: …TEXT…`, on stderr and
# nothing else.
refused() {
    local code=$1 text=$2 got=0
    shift 2
    "$@" >out 2>err || got=$?
    [ "$got" = "$code" ] || fail "$*: exit $got instead of $code"
    [ ! -s out ] || fail "$*: printed on stdout"
    [ "$(wc -l <err)" = 1 ] || fail "$*: said other than one line: $(cat err)"
    grep -q "^hecaton: .*$text" err || fail "$*: said $(cat err), not $text"
}

# says TEXT COMMAND… : the command must succeed and print just that.
says() {
    local text=$1 got
    shift
    got=$("$@") || fail "$*: exit $?"
    [ "$got" = "$text" ] || fail "$*: printed $got"
}

hello() {
    mkdir -p "$1"
    echo 'main = putStrLn "hello"' >"$1/Main.hs"
}
