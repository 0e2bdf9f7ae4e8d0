-- | The back end on @poll@. Each call passes all registered descriptors to the system and looks at all of them again,
-- so it is for comparison, and for programs with few descriptors.
--
-- A wait of a program linked with @-threaded@ occupies an operating system thread, but no HEC. In other programs the
-- back end looks without waiting, every 1 to 10 milliseconds, because a call that waits would stop all Haskell threads.
module Hecaton.Event.Poll
  ( new,
  )
where

import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Hecaton.Event.Backend
import Hecaton.Event.PollCall
import System.Posix.Types (Fd)

-- | The events awaited on each descriptor. Only 'modify' changes it.
newtype Poll = Poll (IORef (IntMap.IntMap Event))

-- | A new back end.
new :: IO Backend
new = backend pollAll modify (const (pure ())) . Poll <$> newIORef IntMap.empty

modify :: Poll -> Fd -> Event -> Event -> IO ()
modify (Poll awaited) fd _ events = do
  before <- readIORef awaited
  writeIORef awaited $! change before
  where
    change = if events == mempty then IntMap.delete number else IntMap.insert number events
    number = fromIntegral fd

pollAll :: Poll -> Timeout -> (Fd -> Event -> IO ()) -> IO ()
pollAll (Poll awaited) timeout report = readIORef awaited >>= \all' -> pollFor all' timeout report
