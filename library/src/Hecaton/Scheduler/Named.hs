{-# LANGUAGE ExistentialQuantification, ForeignFunctionInterface #-}

-- | The schedulers that @+RTS --scheduler@ and the environment variable @HECATON_SCHEDULER@ can name, beside the orders
-- of the runtime's own queues. A program that is linked with this package needs no other preparation: its @main@ is a
-- thread of the scheduler that is named, and so are those that it makes by 'Control.Concurrent.forkIO', with what is
-- usual there. Bound threads of 'Control.Concurrent.forkOS', finalizers and signal handlers are not.
module Hecaton.Scheduler.Named (names, named) where

import Data.List
import Foreign.C.String
import Foreign.StablePtr
import GHC.TopHandler (runMainIO)
import Hecaton.Scheduler
import qualified Hecaton.Scheduler.Deadline as Deadline
import qualified Hecaton.Scheduler.FairShare as FairShare
import qualified Hecaton.Scheduler.Fifo as Fifo
import qualified Hecaton.Scheduler.Gang as Gang
import qualified Hecaton.Scheduler.Lifo as Lifo
import qualified Hecaton.Scheduler.Priority as Priority
import qualified Hecaton.Scheduler.Random as Random
import qualified Hecaton.Scheduler.RoundRobin as RoundRobin
import qualified Hecaton.Scheduler.WorkStealing as WorkStealing
import System.Environment
import System.Exit
import System.IO
import Text.Read

-- | The names that there are.
names :: [String]
names = map fst withoutArgument ++ ["Random:<seed>"]

-- | Runs an action under a new scheduler of this name, if there is such a scheduler.
named :: String -> Maybe (IO a -> IO a)
named text = case break (== ':') text of
  ("Random", ':' : seed) -> under . Random.new <$> readMaybe seed
  (_, "") -> (\(Maker new) -> under new) <$> lookup text withoutArgument
  _ -> Nothing
  where
    under new action = new >>= (`withScheduler` action)

data Maker = forall a. Maker (IO (Scheduler a))

withoutArgument :: [(String, Maker)]
withoutArgument =
  [ ("Deadline", Maker Deadline.new),
    ("FairShare", Maker FairShare.new),
    ("Fifo", Maker Fifo.new),
    ("Gang", Maker Gang.new),
    ("Lifo", Maker Lifo.new),
    ("Priority", Maker Priority.new),
    ("RoundRobin", Maker RoundRobin.new),
    ("WorkStealing", Maker WorkStealing.new)
  ]

-- The runtime calls this at start with @main@, and runs what it returns.
foreign export ccall "hecaton_main_under" mainUnder :: CString -> StablePtr (IO ()) -> IO (StablePtr (IO ()))

mainUnder :: CString -> StablePtr (IO ()) -> IO (StablePtr (IO ()))
mainUnder nameOfScheduler ofMain = do
  name <- peekCString nameOfScheduler
  action <- deRefStablePtr ofMain
  newStablePtr (maybe (runMainIO (refuse name)) ($ action) (named name))

-- | Ends the program as a wrong option does.
refuse :: String -> IO ()
refuse name = do
  program <- getProgName
  let there = intercalate ", " (["fifo", "lifo", "random:<seed>"] ++ init names) ++ " and " ++ last names
  hPutStrLn stderr (program ++ ": no such scheduler (there are " ++ there ++ "): " ++ name)
  exitWith (ExitFailure 1)
