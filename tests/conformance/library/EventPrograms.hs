-- What the programs of this folder have in common: checks of Hecaton.Event that print the same on every runtime and in
-- every way.
module EventPrograms (everything) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as Bytes
import Data.IORef
import Data.List (sort)
import Foreign (allocaBytes, castPtr)
import Hecaton.Event hiding (init)
import qualified Hecaton.Event as Event
import System.Directory (getTemporaryDirectory, listDirectory, removeFile)
import System.Exit (ExitCode (..), exitWith)
import System.IO
import System.IO.Error (catchIOError)
import qualified System.Posix.IO as Posix
import System.Posix.Process (forkProcess, getProcessStatus)
import System.Posix.Types
import System.Timeout (timeout)

everything :: IO ()
everything = do
  hSetBuffering stdout LineBuffering
  forM_ backends $ \(name, make) -> do
    let manager = make >>= newWith
    section (name ++ ": level-triggered") (levelTriggered manager)
    section (name ++ ": both directions") (bothDirections manager)
    section (name ++ ": steps by hand") (stepsByHand manager)
    section (name ++ ": timeouts") (timeouts manager)
    section (name ++ ": timers") (timers manager)
    section (name ++ ": callbacks that block") (blocking manager)
    section (name ++ ": exceptions") (exceptions manager)
    section (name ++ ": closing") (closing manager)
    section (name ++ ": several managers") (several manager)
    section (name ++ ": an interrupted step") (interruptedStep manager)
    section (name ++ ": files") (files manager)
    section (name ++ ": descriptors are released") (released manager)
  section "a back end of one's own" ownBackend
  section "wait" waits
  section "waitAny" waitsForAny
  section "submit" submits

section :: String -> IO () -> IO ()
section name body = do
  putStrLn ("== " ++ name)
  done <- timeout 20000000 body
  when (done == Nothing) $ putStrLn "took too long"

-- | Runs a loop beside an action, and ends it.
looping :: IO EventManager -> (EventManager -> IO a) -> IO a
looping make body = do
  manager <- make
  over <- newEmptyMVar
  _ <- forkIO (loop manager `finally` putMVar over ())
  result <- body manager
  shutdown manager
  takeMVar over
  isOver <- finished manager
  unless isOver $ putStrLn "not finished"
  pure result

pipes :: (Fd -> Fd -> IO a) -> IO a
pipes body = bracket Posix.createPipe (\(r, w) -> mapM_ close [r, w]) (uncurry body)
  where
    close fd = Posix.closeFd fd `catchIOError` const (pure ())

send :: Fd -> String -> IO ()
send fd text = Bytes.useAsCStringLen (Bytes.pack text) $ \(p, n) ->
  void (Posix.fdWriteBuf fd (castPtr p) (fromIntegral n))

receive :: Fd -> Int -> IO String
receive fd n = allocaBytes n $ \p -> do
  got <- Posix.fdReadBuf fd p (fromIntegral n)
  Bytes.unpack <$> Bytes.packCStringLen (castPtr p, fromIntegral got)

levelTriggered :: IO EventManager -> IO ()
levelTriggered make = pipes $ \r w -> looping make $ \manager -> do
  read' <- newEmptyMVar
  send w "abcd"
  -- One byte a call: what is left calls again.
  let called key found = receive r 1 >>= \c -> putMVar read' (keyFd key == r, found, c)
  (key, new') <- registerFd manager called r evtRead
  print new'
  replicateM 4 (takeMVar read') >>= mapM_ print
  -- Another registration for the same event changes nothing for the back end.
  (other, new'') <- registerFd manager (\_ _ -> pure ()) r evtRead
  print (new'', key == other)
  unregisterFd_ manager other >>= print
  unregisterFd_ manager key >>= print
  unregisterFd manager key
  send w "e"
  threadDelay 10000
  isEmptyMVar read' >>= print

bothDirections :: IO EventManager -> IO ()
bothDirections make = looping make $ \manager -> do
  heard <- newEmptyMVar
  pipes $ \r w -> do
    let called key found = putMVar heard found >> unregisterFd manager key
    (key, _) <- registerFd manager called w (evtRead <> evtWrite)
    takeMVar heard >>= print
    unregisterFd manager key
    -- The other end closes: an event for whichever direction is registered.
    Posix.closeFd r
    _ <- registerFd manager (\k found -> unregisterFd manager k >> putMVar heard found) w evtRead
    takeMVar heard >>= print
  print (evtRead <> evtWrite, mempty :: Event, (evtRead <> evtWrite) `contains` evtWrite, evtRead `contains` evtWrite)

stepsByHand :: IO EventManager -> IO ()
stepsByHand make = pipes $ \r w -> do
  manager <- make
  (try (step manager emptyQueue) >>= either (\e -> const (pure ()) (e :: IOException)) (const (putStrLn "no init")))
  Event.init manager
  again <- try (Event.init manager) :: IO (Either IOException ())
  putStrLn (either (const "a second init is refused") (const "inits twice") again)
  calls <- newIORef (0 :: Int)
  _ <- registerFd_ manager (\_ _ -> modifyIORef' calls (+ 1)) r evtRead
  -- Woken before, a step does not wait.
  wakeManager manager >> wakeManager manager
  (on, queue) <- step manager emptyQueue
  readIORef calls >>= \n -> print (on, n)
  send w "x"
  queue' <- foldM (\q _ -> snd <$> step manager q) queue [1 .. 3 :: Int]
  readIORef calls >>= print
  _ <- receive r 1
  -- A step is woken by another thread.
  _ <- forkIO (threadDelay 10000 >> wakeManager manager)
  (on', queue'') <- step manager queue'
  readIORef calls >>= \n -> print (on', n)
  shutdown manager
  (on'', _) <- step manager queue''
  isOver <- finished manager
  print (on'', isOver)
  late <- try (registerFd manager (\_ _ -> pure ()) r evtRead) :: IO (Either IOException (FdKey, Bool))
  putStrLn (either (const "registration is refused") (const "registered") late)

timeouts :: IO EventManager -> IO ()
timeouts make = looping make $ \manager -> do
  order <- newTVarIO []
  let note name = atomically (modifyTVar' order (name :))
      ms n = n * 1000
  _ <- registerTimeout manager (ms 90) (note "90")
  _ <- registerTimeout manager (ms 30) (note "30")
  gone <- registerTimeout manager (ms 40) (note "gone")
  later <- registerTimeout manager (ms 20) (note "120, once 20")
  sooner <- registerTimeout manager (ms 5000) (note "60, once 5000")
  _ <- registerTimeout manager 0 (note "0")
  _ <- registerTimeout manager (-5) (note "-5")
  far <- registerTimeout manager maxBound (note "far")
  unregisterTimeout manager gone
  updateTimeout manager later (ms 120)
  updateTimeout manager sooner (ms 60)
  atomically (readTVar order >>= \l -> check (length l >= 6))
  readTVarIO order >>= mapM_ putStrLn . reverse
  unregisterTimeout manager far
  -- What is over is changed no more.
  updateTimeout manager later 0
  unregisterTimeout manager later
  -- Many at once, most of them cancelled.
  fired <- newTVarIO (0 :: Int)
  keys <- forM [1 .. 2000 :: Int] $ \i ->
    registerTimeout manager (if even i then ms 20 + i else ms 3600000 + i) (atomically (modifyTVar' fired (+ 1)))
  forM_ (zip [1 :: Int ..] keys) $ \(i, key) -> when (odd i) $ unregisterTimeout manager key
  atomically (readTVar fired >>= check . (>= 1000))
  threadDelay (ms 20)
  readTVarIO fired >>= print
  -- A timeout is never early.
  s <- stats manager
  print (statTimeouts s >= 1006, statMaxLateness s >= 0)

timers :: IO EventManager -> IO ()
timers make = looping make $ \manager -> do
  ticks <- newTVarIO (0 :: Int)
  clock <- every manager 1000 (atomically (modifyTVar' ticks (+ 1)))
  atomically (readTVar ticks >>= check . (>= 5))
  cancel clock >>= print
  cancel clock >>= print
  threadDelay 20000
  before <- readTVarIO ticks
  threadDelay 20000
  now <- readTVarIO ticks
  print (before == now)
  rang <- newEmptyMVar
  alarm <- after manager 10000000 (putMVar rang ())
  reset alarm 1000
  takeMVar rang
  cancel alarm >>= print
  reset alarm 1000
  takeMVar rang
  putStrLn "rang twice"
  reset alarm 10000000
  cancel alarm >>= print

blocking :: IO EventManager -> IO ()
blocking make = pipes $ \r w -> pipes $ \r' w' -> looping make $ \manager -> do
  gate <- newEmptyMVar
  calls <- newTVarIO []
  running <- newTVarIO (0 :: Int)
  let note name = atomically (modifyTVar' calls (name :))
  _ <- registerFd manager (\_ _ -> do
    n <- atomically (modifyTVar' running (+ 1) >> readTVar running)
    c <- receive r 1
    note ("slow " ++ c ++ " " ++ show n)
    takeMVar gate
    atomically (modifyTVar' running (subtract 1))) r evtRead
  _ <- registerFd manager (\_ _ -> receive r' 1 >>= note) r' evtRead
  send w "ab"
  -- The first call blocks; others go on, and there is no second call for the same descriptor.
  forM_ "xyz" $ \c -> do
    before <- length <$> readTVarIO calls
    send w' [c]
    atomically (readTVar calls >>= check . (> before) . length)
    threadDelay 12000
  (reverse <$> readTVarIO calls) >>= print . sort
  putMVar gate ()
  atomically (readTVar calls >>= check . (== 5) . length)
  putMVar gate ()
  atomically (readTVar running >>= check . (== 0))
  (reverse <$> readTVarIO calls) >>= print . last
  -- So do those that compute.
  stop' <- newTVarIO False
  let compute :: Int -> IO ()
      compute n = do
        s <- readTVarIO stop'
        unless (s || length (show n) < 0) $ compute (n + 1)
  _ <- registerTimeout manager 0 (compute 0 >> note "computed")
  done <- newEmptyMVar
  _ <- registerTimeout manager 1000 (putMVar done ())
  takeMVar done
  atomically (writeTVar stop' True)
  atomically (readTVar calls >>= check . (== 6) . length)
  slow <- statSlowCallbacks <$> stats manager
  print (slow >= 2)

exceptions :: IO EventManager -> IO ()
exceptions make = pipes $ \r w -> looping make $ \manager -> do
  next <- newEmptyMVar
  _ <- registerFd manager (\_ _ -> do
    c <- receive r 1
    case c of
      "k" -> myThreadId >>= killThread
      "e" -> throwIO ThreadKilled
      _ -> putMVar next c) r evtRead
  send w "kekeo"
  takeMVar next >>= print
  _ <- registerTimeout manager 0 (myThreadId >>= killThread)
  _ <- registerTimeout manager 1000 (putMVar next "p")
  takeMVar next >>= print

closing :: IO EventManager -> IO ()
closing make = do
  said <- newTVarIO []
  let note name _ found = atomically (modifyTVar' said ((name, found) :))
      heard n = atomically (readTVar said >>= check . (>= n) . length) >> (sort <$> readTVarIO said) >>= mapM_ print
  pipes $ \r w -> do
    looping make $ \manager -> do
      _ <- registerFd manager (note "a") r (evtRead <> evtClose)
      _ <- registerFd manager (note "b") r evtRead
      closeFd manager Posix.closeFd r
      heard 1
      -- The number is given out again, and belongs to another descriptor.
      pipes $ \r' w' -> do
        print (r' == r)
        answer <- newEmptyMVar
        (key, new') <- registerFd manager (\k found -> receive (keyFd k) 9 >>= putMVar answer . (,) found) r' evtRead
        send w' "new"
        takeMVar answer >>= \a -> print (new', a)
        unregisterFd manager key
      _ <- registerFd manager (note "c") w evtClose
      pure ()
    -- The loop has ended with a registration.
    heard 2
  -- A manager that has never run.
  pipes $ \r _ -> do
    manager <- make
    _ <- registerFd manager (note "d") r (evtRead <> evtClose)
    shutdown manager
    heard 3

several :: IO EventManager -> IO ()
several make = do
  totals <- replicateM 3 (newTVarIO (0 :: Int))
  overs <- forM totals $ \total -> do
    over <- newEmptyMVar
    _ <- forkIO . (`finally` putMVar over ()) . looping make $ \manager -> do
      ends <- replicateM 20 Posix.createPipe
      forM_ ends $ \(r, _) -> registerFd manager (\_ _ -> receive r 1 >> atomically (modifyTVar' total (+ 1))) r evtRead
      forM_ [1 .. 10 :: Int] $ \_ -> forM_ ends $ \(_, w) -> send w "."
      atomically (readTVar total >>= check . (>= 200))
      forM_ ends $ \(r, w) -> closeFd manager Posix.closeFd r >> Posix.closeFd w
      statDescriptors <$> stats manager >>= \n -> when (n /= 0) (print n)
    pure over
  mapM_ takeMVar overs
  mapM readTVarIO totals >>= print

interruptedStep :: IO EventManager -> IO ()
interruptedStep make = do
  manager <- make
  Event.init manager
  fired <- newIORef []
  gone <- registerTimeout manager 10000000 (modifyIORef fired ("gone" :))
  kept <- registerTimeout manager 5000000 (modifyIORef fired ("kept" :))
  -- The edits are seen by a step that does not end.
  timeout 5000 (step manager emptyQueue) >>= print . fmap fst
  updateTimeout manager kept 1000
  unregisterTimeout manager gone
  let go queue n = do
        (_, queue') <- step manager queue
        done <- not . null <$> readIORef fired
        unless (done || n == (0 :: Int)) $ go queue' (n - 1)
  go emptyQueue 10
  readIORef fired >>= print
  shutdown manager
  step manager emptyQueue >>= print . fst

files :: IO EventManager -> IO ()
files make = temporary $ \fd -> looping make $ \manager -> do
  heard <- newTVarIO (0 :: Int)
  -- A file is always ready.
  let called _ found = when (found == evtWrite) $ atomically (modifyTVar' heard (+ 1))
  (key, _) <- registerFd manager called fd evtWrite
  atomically (readTVar heard >>= check . (>= 3))
  unregisterFd manager key
  threadDelay 10000
  before <- readTVarIO heard
  threadDelay 10000
  (== before) <$> readTVarIO heard >>= print
  (_, new') <- registerFd manager (\_ _ -> atomically (writeTVar heard 0)) fd evtRead
  atomically (readTVar heard >>= check . (== 0))
  closeFd manager (const (pure ())) fd
  print new'

released :: IO EventManager -> IO ()
released make = do
  open <- listDirectory "/proc/self/fd"
  forM_ [1 .. 100 :: Int] $ \_ -> make >>= \manager -> looping (pure manager) (const (pure ()))
  forM_ [1 .. 20 :: Int] $ \_ -> make >>= shutdown
  now <- listDirectory "/proc/self/fd"
  print (length now == length open)

-- | The program itself is the operating system.
ownBackend :: IO ()
ownBackend = do
  pending <- newTVarIO []
  changes <- newTVarIO []
  destroyed <- newIORef False
  let pollOwn (Timeout 0) report = atomically (swapTVar pending []) >>= mapM_ (uncurry report)
      pollOwn limit report = do
        let some = readTVar pending >>= check . not . null
        _ <- case limit of
          Timeout ms -> timeout (ms * 1000) (atomically some)
          Forever -> Just <$> atomically some
        pollOwn (Timeout 0) report
      modifyOwn fd old now = atomically (modifyTVar' changes ((fd, old, now) :))
  let events fd found = atomically (modifyTVar' pending ((fd, found) :))
  manager <- newWith (backend (const pollOwn) (const modifyOwn) (const (writeIORef destroyed True)) ())
  atomically (writeTVar changes [])
  heard <- newEmptyMVar
  looping (pure manager) $ \_ -> do
    (key, a) <- registerFd manager (\k found -> putMVar heard (keyFd k, found)) 1000 evtRead
    (key', b) <- registerFd manager (\k found -> putMVar heard (keyFd k, found)) 1000 (evtRead <> evtWrite)
    print (a, b)
    events 1000 evtWrite
    takeMVar heard >>= print
    events 1000 (evtRead <> evtWrite)
    replicateM 2 (takeMVar heard) >>= mapM_ print
    events 2000 evtRead
    unregisterFd_ manager key' >>= print
    unregisterFd_ manager key >>= print
    (reverse <$> readTVarIO changes) >>= mapM_ print
    _ <- registerTimeout manager 5000 (putMVar heard (0, mempty))
    -- This back end's wait does not end by a registration.
    events 2000 evtRead
    takeMVar heard >>= print
    events 2000 evtRead
    shutdown manager
    events 2000 evtRead
  readIORef destroyed >>= print
  let failing = backend (\_ _ _ -> pure ()) (\_ _ _ _ -> ioError (userError "refused")) (\_ -> putStrLn "destroyed") ()
  try (newWith failing) >>= either (\e -> print (e :: IOException)) (const (putStrLn "made"))

waits :: IO ()
waits = pipes $ \r w -> do
  wait r evtRead (Just 1000) >>= print
  wait r evtRead (Just 0) >>= print
  wait w evtWrite Nothing >>= print
  wait w (evtRead <> evtWrite) (Just 10000000) >>= print
  _ <- forkIO (threadDelay 5000 >> send w "x")
  wait r evtRead Nothing >>= print
  wait r evtRead (Just 10000000) >>= print
  -- What is there is found without time for it, and no more than that.
  wait r evtRead (Just 0) >>= print
  wait r evtRead (Just (-1)) >>= print
  wait w (evtRead <> evtWrite <> evtClose) (Just 0) >>= print
  wait w mempty (Just 1000) >>= print
  _ <- receive r 1
  wait r (evtRead <> evtWrite) (Just 1000) >>= print
  -- Many at once: the limits of some are over, others are killed, and the rest get the byte.
  ends <- forM [1 .. 60 :: Int] $ \i -> do
    over <- newEmptyMVar
    t <- forkIO (try (wait r evtRead (Just (if even i then 5000 else 10000000))) >>= putMVar over)
    pure (i, t, over)
  forM_ ends $ \(i, t, over) -> if even i then void (readMVar over) else when (i `mod` 3 == 0) (killThread t)
  send w "x"
  found <- forM ends $ \(_, _, over) -> either (\e -> show (e :: AsyncException)) show <$> takeMVar over
  print [length (filter (== what) found) | what <- ["[]", "thread killed", "[evtRead]"]]

waitsForAny :: IO ()
waitsForAny = pipes $ \r w -> pipes $ \r' w' -> do
  user <- newEmptyTMVarIO
  let all' = [show <$> onFd r evtRead, show <$> onFd r' evtRead, "time" <$ onTimer 20000, onSTM (takeTMVar user)]
  waitAny all' >>= putStrLn
  send w' "x"
  waitAny all' >>= putStrLn
  _ <- receive r' 1
  _ <- forkIO (threadDelay 2000 >> atomically (putTMVar user "user"))
  waitAny all' >>= putStrLn
  -- A wait that is killed leaves nothing behind.
  forM_ [1 .. 50 :: Int] $ \_ -> timeout 100 (waitAny (take 2 all'))
  send w "y"
  waitAny all' >>= putStrLn
  timeout 1000 (waitAny ([] :: [Source ()])) >>= print

temporary :: (Fd -> IO a) -> IO a
temporary body = do
  folder <- getTemporaryDirectory
  (path, file) <- openBinaryTempFile folder "events"
  fd <- Posix.handleToFd file
  body fd `finally` (Posix.closeFd fd >> removeFile path)

submits :: IO ()
submits = temporary $ \fd -> do
  let pieces = [Bytes.pack (take 1000 (cycle (show i))) | i <- [1 .. 50 :: Int]]
  written <- submit [writeAt fd (1000 * i) piece | (i, piece) <- zip [0 ..] pieces]
  print (map (either (const 0) id) written == replicate 50 1000)
  submit [syncData fd] >>= print
  back <- submit [readAt fd (1000 * i) 1000 | i <- [49, 48 .. 0]]
  print ([piece | Right piece <- back] == reverse pieces)
  short <- submit [readAt fd 49990 100, readAt fd 60000 100]
  print [Bytes.length piece | Right piece <- short]
  bad <- submit [Bytes.length <$> readAt (-1) 0 10, Bytes.length <$> readAt fd 0 10]
  print [either (const "error") show one | one <- bad]
  submit ([] :: [Op ()]) >>= print
  before <- submit [Bytes.length <$> readAt fd (-1) 10, writeAt fd (-1) (Bytes.pack "x")]
  print [either (const "error") show one | one <- before]
  -- More than any queue has room for, with a sync and an error among them; and by many threads at once.
  let place i = fromIntegral (i * 7919 `mod` 49000) :: FileOffset
      isThere i one = either (const False) (== Bytes.take 3 (Bytes.drop (fromIntegral (place i)) whole)) one
      whole = Bytes.concat pieces
      batch n = submit [if i == 17 then Bytes.empty <$ syncData fd else readAt fd (place i) 3 | i <- [0 .. n - 1 :: Int]]
      right found = and [if i == 17 then one == Right Bytes.empty else isThere i one | (i, one) <- zip [0 ..] found]
  batch 9000 >>= print . right
  ends <- forM [1 .. 20 :: Int] $ \i -> do
    over <- newEmptyMVar
    _ <- forkIO (replicateM 20 (batch (30 + i)) >>= putMVar over . all right)
    pure over
  mapM takeMVar ends >>= print . and
  -- Interrupted batches harm no later one.
  forM_ [1 .. 50 :: Int] $ \i -> timeout (i * 10) (batch 200)
  batch 200 >>= print . right
  -- Children of forks have batches of their own, while batches are under way here.
  busy <- forkIO (forever (batch 50))
  children <- replicateM 3 . forkProcess $ do
    found <- batch 50
    exitWith (if right found then ExitSuccess else ExitFailure 1)
  mapM (getProcessStatus True False) children >>= print
  killThread busy
  batch 50 >>= print . right
