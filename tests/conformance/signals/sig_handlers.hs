-- Handlers for several signals, their order of running, replacement, ignoring and one-shot handlers.
import Control.Concurrent
import Control.Monad
import System.Posix.Signals

main :: IO ()
main = do
  got <- newEmptyMVar
  _ <- installHandler sigUSR1 (Catch (putMVar got "usr1")) Nothing
  raiseSignal sigUSR1
  takeMVar got >>= putStrLn
  old <- installHandler sigUSR1 (Catch (putMVar got "replaced")) Nothing
  raiseSignal sigUSR1
  takeMVar got >>= putStrLn
  _ <- installHandler sigUSR1 old Nothing
  raiseSignal sigUSR1
  takeMVar got >>= putStrLn
  _ <- installHandler sigUSR1 Ignore Nothing
  raiseSignal sigUSR1
  _ <- installHandler sigUSR2 (CatchOnce (putMVar got "once")) Nothing
  raiseSignal sigUSR2
  takeMVar got >>= putStrLn
  _ <- installHandler sigUSR2 (CatchInfo (\i -> putMVar got (show (siginfoSignal i == sigUSR2)))) Nothing
  raiseSignal sigUSR2
  takeMVar got >>= putStrLn
  n <- newMVar (0 :: Int)
  _ <- installHandler sigHUP (Catch (modifyMVar_ n (return . (+ 1)) >> putMVar got "hup")) Nothing
  forM_ [1 .. 20 :: Int] $ \_ -> raiseSignal sigHUP >> takeMVar got
  readMVar n >>= print
  putStrLn "end"
