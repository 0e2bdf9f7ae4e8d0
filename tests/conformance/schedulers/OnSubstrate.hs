-- What the programs of this folder have in common. Only Hecaton's runtime has the substrate. On another one a program
-- checks that each function says so, and prints what is expected.
module OnSubstrate (substrateProgram, Check, expect, raises, forkBuiltIn) where

import Control.Concurrent (myThreadId)
import Control.Exception
import Control.Monad
import Data.Dynamic (toDyn)
import GHC.Conc
import Hecaton.RunQueue (Order (..), currentQueue, leaveQueue, newRunQueue, setKey)
import qualified Hecaton.RunQueue as RunQueue
import Hecaton.Substrate
import System.IO

-- A name, an action, and what it must return.
data Check = Check String (IO String) String

expect :: Show a => String -> a -> IO a -> Check
expect name expected action = Check name (show <$> action) (show expected)

-- Does the action raise this?
raises :: SubstrateException -> IO a -> IO Bool
raises e action = either (== e) (const False) <$> try action

-- Makes a thread of the built-in scheduler, whatever thread asks for it.
forkBuiltIn :: IO () -> IO ()
forkBuiltIn = void . RunQueue.forkBuiltIn

substrateProgram :: [Check] -> IO ()
substrateProgram checks = do
  hSetBuffering stdout LineBuffering
  stock <- raises NotOnHecaton getNumHECs
  when stock everythingRefuses
  forM_ checks $ \(Check name action expected) -> do
    found <- if stock then return expected else action
    putStrLn (name ++ ": " ++ found ++ (if found == expected then "" else ", expected " ++ expected))

everythingRefuses :: IO ()
everythingRefuses = do
  me <- myThreadId
  refused <- mapM (raises NotOnHecaton)
    [ void (newSCont (print me)), switch return, setDequeueAct return, setEnqueueAct (const (return ()))
    , void (atomically getCurrentHEC), void (atomically clock), void getNumHECs, atomically (preemptHEC 0)
    , switch (\s -> dequeueAct s), switch (\s -> enqueueAct s >> setAux s (toDyn ()) >> getAux s >> return s)
    , switch (\s -> isStale s >> builtInDequeueAct s), void (atomically ownSCont)
    , newSCont (return ()) >>= runOnIdleHEC, void (newRunQueue Fifo), leaveQueue, setKey 1, void currentQueue
    , forkBuiltIn (return ())
    ]
  unless (and refused) (putStrLn ("not refused: " ++ show refused))
