-- Terms of Hecaton.Substrate.Model that its tests are made of.
module ModelPrograms where

import Hecaton.Substrate.Model
import Hecaton.Substrate.Model.State (Address, Code)
import Hecaton.Substrate.Model.Term

type E = Expr Address

plain :: Settings
plain = Settings {hecCount = 1, ticks = NoTicks, stateLimit = 20000}

twoHecs, ticking :: Settings
twoHecs = plain {hecCount = 2}
ticking = plain {ticks = AtTickPoints}

out :: E -> Code
out e = Perform Output [e]

say :: Int -> Code
say = out . int

throw :: Int -> Code
throw n = Throw (Val (Exception (User n)))

newTVar, readTVar, newTVarIO, readTVarIO, takeMVar, force, safeCall :: E -> Code
newTVar v = Perform NewTVar [v]
readTVar r = Perform ReadTVar [r]
newTVarIO = Atomically . newTVar
readTVarIO = Atomically . readTVar
takeMVar m = Perform TakeMVar [m]
force x = Perform Force [x]
safeCall v = Perform SafeCall [v]

dequeueAct, enqueueAct, getAux, runOnIdleHEC :: E -> Code
dequeueAct s = Perform DequeueAct [s]
enqueueAct s = Perform EnqueueAct [s]
getAux s = Perform GetAux [s]
runOnIdleHEC s = Perform RunOnIdleHEC [s]

writeTVar, putMVar, setAux :: E -> E -> Code
writeTVar r v = Perform WriteTVar [r, v]
putMVar m v = Perform PutMVar [m, v]
setAux s v = Perform SetAux [s, v]

writeTVarIO :: E -> E -> Code
writeTVarIO r v = Atomically (writeTVar r v)

retry, newMVar, tick, yield :: Code
retry = Perform Retry []
newMVar = Perform NewMVar []
tick = Perform TickPoint []
yield = switching $ \s -> enqueueAct s >>> dequeueAct s

throwTo :: E -> Int -> Code
throwTo t n = Perform ThrowTo [t, Val (Exception (User n))]

-- Waits until a TVar is not 0.
await :: E -> Code
await r = Atomically $ readTVar r >>>= \v -> IfEqual v (int 0) retry (Return unit)

-- What a dequeue activation takes from a queue, and where an enqueue activation puts an SCont. The last one is a round
-- robin whose dequeue activation marks the thread that it is asked for.
data Policy = RoundRobin | Stack | Marking
  deriving (Eq, Show)

-- Begins a scheduler with one queue for all HECs, and starts it on the HECs that are idle. The queue is passed on.
scheduler :: Policy -> Int -> (E -> Code) -> Code
scheduler policy hecs body =
  newTVarIO nil >>>= \queue ->
    SetDequeueAct (lambda (\s -> if policy == Marking then setAux s (int 5) >>> next queue else next queue))
      >>> SetEnqueueAct (lambda (\s -> readTVar queue >>>= \l -> writeTVar queue (Apply operator (args l s))))
      >>> foldr (>>>) (body queue) (replicate (hecs - 1) worker)
  where
    next queue = readTVar queue >>>= \l -> uncons l retry (\s rest -> writeTVar queue rest >>> Return s)
    operator = if policy == Stack then Cons else Snoc
    args l s = if policy == Stack then [s, l] else [l, s]
    worker = NewSCont (switching dequeueAct) >>>= runOnIdleHEC
