-- Flags that need no visible effect are accepted.
-- args: +RTS -A1m -n4m -AL2m -F2 -m5 -kc32k -kb1k -ki1k -I0 -C0.02 -V0.01 -N1 -xn -qg -qi0 -qm -qb0
-- args: -Z -w --disable-delayed-os-memory-return --install-signal-handlers=yes --copying-gc -RTS
-- compare: stdout,exit
main :: IO ()
main = print (sum [1 .. 10000 :: Int])
