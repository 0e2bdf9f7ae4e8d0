-- The names and types of Hecaton.Substrate, to type-check programs against.
module Hecaton.Substrate where

import Control.Concurrent (ThreadId)
import Control.Concurrent.STM (STM)
import Data.Dynamic (Dynamic)
import Data.Word (Word64)

data SCont

instance Eq SCont where (==) = undefined

instance Ord SCont where compare = undefined

type DequeueAct = SCont -> STM SCont

type EnqueueAct = SCont -> STM ()

newSCont :: IO () -> IO SCont
newSCont = undefined

switch :: (SCont -> STM SCont) -> IO ()
switch = undefined

runOnIdleHEC :: SCont -> IO ()
runOnIdleHEC = undefined

dequeueAct :: DequeueAct
dequeueAct = undefined

enqueueAct :: EnqueueAct
enqueueAct = undefined

setDequeueAct :: DequeueAct -> IO ()
setDequeueAct = undefined

setEnqueueAct :: EnqueueAct -> IO ()
setEnqueueAct = undefined

getAux :: SCont -> STM Dynamic
getAux = undefined

setAux :: SCont -> Dynamic -> STM ()
setAux = undefined

getCurrentHEC :: STM Int
getCurrentHEC = undefined

getNumHECs :: IO Int
getNumHECs = undefined

threadOf :: SCont -> ThreadId
threadOf = undefined

preemptHEC :: Int -> STM ()
preemptHEC = undefined

clock :: STM Word64
clock = undefined

runTime :: SCont -> STM Word64
runTime = undefined
