-- Event managers of base that end with waiters: one that nobody runs is collected, with its descriptors. Programs that
-- use the system's manager are not disturbed.
import Control.Concurrent
import Control.Exception
import Control.Monad
import GHC.Event
import System.Directory
import System.Mem
import System.Posix.IO (createPipe, fdWrite)
import Waits

descriptors :: IO Int
descriptors = length <$> listDirectory "/proc/self/fd"

main :: IO ()
main = do
  (r, w) <- createPipe
  (r2, w2) <- createPipe
  waiter <- spawn (threadWaitRead r)
  Just system <- getSystemEventManager
  fired <- newEmptyMVar
  key <- registerFd system (\_ e -> putMVar fired (show e)) r2 evtRead MultiShot
  before <- descriptors
  -- Its callbacks never run, because nobody runs the manager.
  replicateM_ 5 $ do
    manager <- new
    forM_ [(r, evtRead), (w, evtWrite), (r2, evtRead)] $ \(fd, events) ->
      registerFd manager (\_ _ -> putStrLn "not reached") fd events OneShot
    (try (void (registerFd manager (\_ _ -> return ()) 9999 evtRead OneShot)) :: IO (Either IOException ())) >>= print
  let gone n = do
        performMajorGC
        threadDelay 5000
        now <- descriptors
        if now <= before || n == (0 :: Int) then return (now - before) else gone (n - 1)
  gone 200 >>= print
  -- The others are as good as before.
  _ <- fdWrite w "x"
  report "waiter" waiter
  _ <- fdWrite w2 "x"
  takeMVar fired >>= putStrLn
  unregisterFd system key
  putStrLn "done"
