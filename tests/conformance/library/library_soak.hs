-- Wake-ups from several threads, of which none may be lost; and descriptors that are opened, served by callbacks of
-- which some block, closed under way and opened again.
-- ghc: -O -threaded
-- needs: hecaton
-- timeout: 120
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign (allocaBytes)
import Hecaton.Event
import System.IO
import qualified System.Posix.IO as Posix
import System.Posix.Types
import System.Timeout (timeout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  forM_ backends $ \(name, make) -> do
    putStrLn name
    looping (make >>= newWith) wakes
    looping (make >>= newWith) soak

looping :: IO EventManager -> (EventManager -> IO ()) -> IO ()
looping make body = do
  manager <- make
  over <- newEmptyMVar
  _ <- forkIO (loop manager `finally` putMVar over ())
  done <- timeout 60000000 (body manager)
  when (done == Nothing) $ putStrLn "took too long"
  shutdown manager
  takeMVar over

-- | Starts threads, and waits for them.
beside :: Int -> (Int -> IO ()) -> IO ()
beside n body = do
  overs <- forM [1 .. n] $ \i -> do
    over <- newEmptyMVar
    over <$ forkIO (body i `finally` putMVar over ())
  mapM_ takeMVar overs

wakes :: EventManager -> IO ()
wakes manager = do
  total <- newTVarIO (0 :: Int)
  beside 4 $ \i -> bracket Posix.createPipe (\(r, w) -> Posix.closeFd r >> Posix.closeFd w) $ \(_, w) -> do
    done <- newEmptyMVar
    forM_ [1 .. 300 :: Int] $ \n -> do
      -- The manager sleeps as long as it can: nothing but the wake-up ends that.
      if even (i + n)
        then void (registerTimeout manager 0 (putMVar done ()))
        else void (registerFd manager (\key _ -> unregisterFd manager key >> putMVar done ()) w evtWrite)
      takeMVar done
      atomically (modifyTVar' total (+ 1))
  readTVarIO total >>= print

soak :: EventManager -> IO ()
soak manager = do
  overlaps <- newTVarIO (0 :: Int)
  stale <- newTVarIO (0 :: Int)
  farewells <- newTVarIO (0 :: Int)
  beside 6 $ \i -> forM_ [1 .. 12 :: Int] $ \n -> do
    (r, w) <- Posix.createPipe
    mine <- newIORef True
    running <- newTVarIO (0 :: Int)
    got <- newTVarIO (0 :: Int)
    let served key found
          | found == evtClose = atomically (modifyTVar' farewells (+ 1))
          | otherwise = do
            others <- atomically (stateTVar running (\k -> (k, k + 1)))
            ok <- readIORef mine
            if not ok
              then atomically (modifyTVar' stale (+ 1))
              else do
                when (others > 0) $ atomically (modifyTVar' overlaps (+ 1))
                k <- readByte (keyFd key)
                when ((i + n + k) `mod` 9 == 0) $ threadDelay 12000
                atomically (modifyTVar' got (+ 1))
            atomically (modifyTVar' running (subtract 1))
    _ <- registerFd manager served r (evtRead <> evtClose)
    when (n `mod` 3 == 0) . void $ registerFd manager (\key _ -> unregisterFd manager key) r evtRead
    replicateM_ 10 (writeByte w)
    if n `mod` 4 == 0
      then -- Closed with data in it.
        atomically (readTVar got >>= check . (>= 3))
      else atomically (readTVar got >>= check . (>= 10))
    -- No callback reads while the number is given up; the end for writing stays open until no other has it.
    closeFd manager (\fd -> do
      quiet <- timeout 5000000 (atomically (readTVar running >>= check . (== 0)))
      when (quiet == Nothing) $ putStrLn "still running"
      writeIORef mine False
      Posix.closeFd fd) r
    Posix.closeFd w
  atomically (readTVar farewells >>= check . (>= 72))
  mapM readTVarIO [overlaps, farewells] >>= print
  (< 72) <$> readTVarIO stale >>= print
  statDescriptors <$> stats manager >>= print

readByte :: Fd -> IO Int
readByte fd = allocaBytes 1 $ \p -> fromIntegral <$> Posix.fdReadBuf fd p 1

writeByte :: Fd -> IO ()
writeByte fd = allocaBytes 1 $ \p -> void (Posix.fdWriteBuf fd p 1)
