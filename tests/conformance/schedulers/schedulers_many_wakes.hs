-- Many threads of a scheduler are woken at once, while their HEC's thread begins to wait: more upcalls than a HEC
-- keeps threads for give them to their scheduler. All are chosen.
-- ghc: -O -threaded -package hecaton
-- args: +RTS -A16k -RTS
-- needs: hecaton
-- env: HECATON_SCHEDULER=RoundRobin
import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  total <- forM [1 .. 10 :: Int] $ \_ -> do
    (gate, done) <- (,) <$> newEmptyMVar <*> newEmptyMVar
    forM_ [1 .. 1000 :: Int] $ \i -> forkIO (readMVar gate >> putMVar done i)
    yield
    putMVar gate ()
    sum <$> replicateM 1000 (takeMVar done)
  print (sum total)
