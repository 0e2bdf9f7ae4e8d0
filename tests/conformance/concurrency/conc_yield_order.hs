-- With one capability and no timer, yield goes round the run queue in order.
-- skip-order: the order in which threads take turns
-- skip-hecs: the order in which threads take turns is that of one HEC
-- ghc: -O
-- args: +RTS -V0 -RTS
-- skip-package: the order in which threads take turns
import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  out <- newMVar ""
  done <- newEmptyMVar
  forM_ "abcd" $ \c -> forkIO $ do
    replicateM_ 5 (modifyMVar_ out (return . (c :)) >> yield)
    putMVar done ()
  replicateM_ 4 (takeMVar done)
  takeMVar out >>= putStrLn . reverse
