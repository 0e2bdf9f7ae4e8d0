{-# LANGUAGE LambdaCase #-}

-- | Which callbacks are registered for which descriptors.
--
-- A lock protects the table, and the back end hears of each change under that lock. Callbacks run without it.
--
-- The callbacks of one descriptor run one after the other: each holds the descriptor's 'Lane'. While a slow callback
-- goes on alone ('Job.jobHold'), the back end does not watch its descriptor, because a level-triggered back end would
-- report it again in each step. Whatever is registered meanwhile is watched from the end of that callback.
module Hecaton.Event.Registrations
  ( Registrations,
    FdKey (..),
    IOCallback,
    newRegistrations,
    register,
    unregister,
    withdraw,
    withdrawAll,
    ready,
    count,
  )
where

import Control.Concurrent.MVar
import Control.Monad
import Data.Foldable (for_)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Data.List (partition)
import Hecaton.Event.Atomic
import Hecaton.Event.Backend
import Hecaton.Event.Runner
import System.IO.Error
import System.Posix.Types (Fd)

-- | Names a registration.
data FdKey = FdKey
  { -- | The descriptor that was registered.
    keyFd :: {-# UNPACK #-} !Fd,
    _keyUnique :: {-# UNPACK #-} !Int
  }
  deriving (Eq, Ord, Show)

-- | What is called when events are there. It is given the key that was returned when it was registered, and those of
-- the events it was registered for that are pending.
type IOCallback = FdKey -> Event -> IO ()

data Registration = Registration
  { key :: !FdKey,
    events :: !Event,
    callback :: !IOCallback,
    -- | False once it was withdrawn.
    valid :: !(IORef Bool)
  }

-- | Held while a callback of a descriptor runs.
type Lane = MVar ()

-- | A descriptor in the table.
data Entry = Entry
  { lane :: !Lane,
    -- | How many slow callbacks go on alone.
    slow :: !Int,
    -- | The earliest first.
    registrations :: [Registration]
  }

data Table = Open !(IntMap.IntMap Entry) | Closed

data Registrations = Registrations
  { backEnd :: !Backend,
    lookAgain :: !(IO ()),
    table :: !(MVar Table),
    lastUnique :: !Words
  }

-- | A table for a back end, and how to make that one look again at what it watches.
newRegistrations :: Backend -> IO () -> IO Registrations
newRegistrations b look = Registrations b look <$> newMVar (Open IntMap.empty) <*> newWords 1

-- | The events that the back end is to watch.
watched :: Maybe Entry -> Event
watched = \case
  Just entry | slow entry == 0 -> foldMap events (registrations entry) `without` evtClose
  _ -> mempty

-- | Changes a descriptor's entry and tells the back end. Says whether that was needed, or nothing if the table is
-- closed.
change :: Registrations -> Fd -> (Maybe Entry -> IO (Maybe Entry)) -> IO (Maybe Bool)
change all' fd f = modifyMVar (table all') $ \case
  Closed -> pure (Closed, Nothing)
  Open entries -> do
    let old = IntMap.lookup number entries
    new <- f old
    let (before, after) = (watched old, watched new)
    when (before /= after) $ modifyFd (backEnd all') fd before after
    let entries' = case new of
          Just entry | slow entry > 0 || not (null (registrations entry)) -> IntMap.insert number entry entries
          _ -> IntMap.delete number entries
    entries' `seq` pure (Open entries', Just (before /= after))
  where
    number = fromIntegral fd

-- | Adds a registration, and says whether the back end watches other events than before.
register :: Registrations -> IOCallback -> Fd -> Event -> IO (FdKey, Bool)
register all' called fd awaited = do
  unique <- add (lastUnique all') 0 1
  valid' <- newIORef True
  let new = Registration (FdKey fd unique) awaited called valid'
  changed <- change all' fd $ \case
    Just entry -> let both = registrations entry ++ [new] in length both `seq` pure (Just entry {registrations = both})
    Nothing -> do
      lane' <- newMVar ()
      pure (Just (Entry lane' 0 [new]))
  case changed of
    Just yes -> pure (key new, yes)
    Nothing -> ioError (mkIOError illegalOperationErrorType closed Nothing Nothing)
  where
    closed = "registerFd: the event manager is shut down"

-- | Removes a registration, and says whether the back end watches other events than before. Without effect if the
-- registration or the manager is over.
unregister :: Registrations -> FdKey -> IO Bool
unregister all' gone = fmap (== Just True) . change all' (keyFd gone) . traverse $ \entry -> do
  let (these, others) = partition ((== gone) . key) (registrations entry)
  for_ these invalidate
  pure entry {registrations = others}

-- | Removes everything that is known of a descriptor, and returns the jobs that tell those callbacks that want to know.
withdraw :: Registrations -> Fd -> IO [Job]
withdraw all' fd = do
  gone <- newIORef []
  _ <- change all' fd $ \old -> do
    for_ old $ \entry -> for_ (registrations entry) invalidate
    Nothing <$ writeIORef gone (foldMap farewell old)
  readIORef gone

invalidate :: Registration -> IO ()
invalidate one = writeIORef (valid one) False

-- | Closes the table, and returns the jobs that tell those callbacks that want to know. The back end is not told.
withdrawAll :: Registrations -> IO [Job]
withdrawAll all' = do
  state <- swapMVar (table all') Closed
  case state of
    Closed -> pure []
    Open entries -> do
      for_ entries $ \entry -> for_ (registrations entry) invalidate
      pure (foldMap farewell entries)

-- | The last calls of a descriptor's callbacks.
farewell :: Entry -> [Job]
farewell entry
  | null calls = []
  | otherwise = [Job (inLane entry calls) (pure (pure ()))]
  where
    calls = [(one, evtClose) | one <- registrations entry, events one `contains` evtClose]

inLane :: Entry -> [(Registration, Event)] -> IO ()
inLane entry calls = withMVar (lane entry) $ \_ ->
  for_ calls $ \(one, found) -> do
    isValid <- readIORef (valid one)
    when (isValid || found == evtClose) $ guarded (callback one (key one) found)

-- | The jobs for events that the back end has reported, in their order, and how many callbacks these are.
ready :: Registrations -> [(Fd, Event)] -> IO ([Job], Int)
ready _ [] = pure ([], 0)
ready all' found = do
  state <- readMVar (table all')
  pure $ case state of
    Closed -> ([], 0)
    Open entries ->
      let calls = [(fd, entry, those) | (fd, pending) <- found, (entry, those) <- callsOf fd pending entries]
          jobs = [Job (inLane entry those) (hold all' fd entry) | (fd, entry, those) <- calls]
       in (jobs, sum [length those | (_, _, those) <- calls])
  where
    callsOf fd pending entries = case IntMap.lookup (fromIntegral fd) entries of
      Just entry
        | those@(_ : _) <-
            [(one, mine) | one <- registrations entry, let mine = events one `common` pending, mine /= mempty] ->
          [(entry, those)]
      _ -> []

-- | Keeps the back end from watching a descriptor until the returned action. Without effect if another descriptor has
-- the number now.
hold :: Registrations -> Fd -> Entry -> IO (IO ())
hold all' fd held = guarded (adds 1) >> pure (guarded (adds (-1) >> lookAgain all'))
  where
    adds n = void . change all' fd . traverse $ \entry ->
      pure (if lane entry == lane held then entry {slow = slow entry + n} else entry)

-- | How many descriptors are registered.
count :: Registrations -> IO Int
count all' =
  readMVar (table all') >>= \case
    Open entries -> pure (IntMap.size entries)
    Closed -> pure 0
