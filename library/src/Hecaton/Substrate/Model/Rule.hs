-- | The names of the model's rules.
--
-- Names of [SHMP14] are kept where the paper has them. The figures' bodies are rebuilt from the prose. The other rules
-- say what the paper leaves to the runtime or to future work: MVars (§6.6), asynchronous exceptions (§6.7), one-shot
-- references (§9), and thunks.
module Hecaton.Substrate.Model.Rule
  ( Rule (..),
  )
where

-- | A rule. Each is given with the section of [SHMP14] that it is from.
data Rule
  = -- | §5.2: a purely functional transition: bind, cases, and what an exception or a result passes in its context.
    PureStep
  | -- | §5.2: a computation begins inside a handler.
    EnterCatch
  | -- | §5.2: @catch (return M) N → return M@.
    IOCatch
  | -- | §5.2: @catch (throw M) N → N M@.
    IOCatchExn
  | -- | §6.7: a computation begins with exceptions masked or unmasked.
    EnterMask
  | -- | §6.7: the state of masking of outside is restored.
    LeaveMask
  | -- | What is seen from outside.
    Output
  | -- | §5.3: @newTVar@.
    TNew
  | -- | §5.3: @readTVar@.
    TRead
  | -- | §5.3: @writeTVar@.
    TWrite
  | -- | §5.3: a whole transaction is one transition.
    TAtomic
  | -- | §5.3: an exception leaves a transaction; its effects are undone, but for new TVars.
    TThrow
  | -- | §5.3: @catchSTM (return M) N → return M@.
    TCatch
  | -- | §5.3: @catchSTM@ of an exception undoes effects as 'TThrow' does, and goes on with the handler.
    TCExn
  | -- | §5.3: @catchSTM@ passes @retry@ on.
    TCRetry
  | -- | §5.3: the first alternative of @orElse@ has not retried.
    TOrElseFirst
  | -- | §5.3: the first alternative of @orElse@ has retried, its effects are undone, and the second is taken.
    TOrElseSecond
  | -- | §5.4: a new SCont inherits the activations.
    NewSCont
  | -- | §5.4: @switch@ to oneself is a transaction.
    SwitchSelf
  | -- | §5.4: @switch@ to a passive SCont.
    Switch
  | -- | §5.4: an exception leaves the body of @switch@; the effects are undone.
    SwitchExn
  | -- | §9: @switch@ chose an SCont that is stale: the transaction stands, and the old thread's dequeue activation is
    -- asked for another.
    SwitchStale
  | -- | §6.8: @switch@ chose an SCont that is not passive; the scheduler is faulty.
    SwitchRunning
  | -- | §5.4: @switch@ by a thread of the built-in scheduler, which has no other SCont.
    SwitchBuiltIn
  | -- | §3.4: a passive SCont starts on an idle HEC.
    RunOnIdleHEC
  | -- | §3.4: the SCont of a HEC has ended; the HEC is idle again.
    EndSCont
  | -- | §6.1: a thread passes a safe point without a tick.
    SafePoint
  | -- | §6.1: a timer tick makes the thread yield.
    Tick
  | -- | §6.2.1: @atomically@ of a transaction that retries blocks the thread.
    TRetryAtomic
  | -- | §6.2.3: @switch@ with a transaction that retries puts the HEC to sleep.
    TRetrySwitch
  | -- | §6.2.2: a TVar that a blocked transaction has read was written.
    TResumeRetry
  | -- | §6.2.3: a TVar that a sleeping HEC's transaction has read was written.
    TWakeup
  | -- | §6.2.1: a new SCont makes the dequeue upcall for a thread that has blocked.
    UpDequeue
  | -- | §6.2.2: the enqueue upcall runs on a HEC that has nothing to run.
    UpEnqueueIdle
  | -- | §6.2.2: the enqueue upcall runs on a HEC before its SCont goes on.
    UpEnqueueRunning
  | -- | §6.8: an upcall raised an exception; the scheduler is faulty.
    UpRaised
  | -- | §6.3: a safe foreign call begins.
    OCBlock
  | -- | §6.3: the call returns, and the HEC goes on with the same SCont.
    OCRetFast
  | -- | §6.3: the HEC is taken from the call for another SCont.
    OCSteal
  | -- | §6.3: the call returns after that; the SCont goes to its scheduler.
    OCRetSlow
  | -- | §6.5: a thread begins to evaluate a thunk.
    EnterThunk
  | -- | §6.5: the value of a thunk is known.
    UpdateThunk
  | -- | §6.5: the thunk is under evaluation by another thread.
    BlockBH
  | -- | §6.5: its evaluation is over.
    ResumeBH
  | -- | §6.5: a switch or upcall transaction takes over the evaluation.
    StealBH
  | -- | Appendix: sets the activation of the running thread.
    SetDequeueAct
  | -- | Appendix: sets the activation of the running thread.
    SetEnqueueAct
  | -- | Appendix: the own aux field.
    GetAuxSelf
  | -- | Appendix: the aux field of another thread.
    GetAuxOther
  | -- | Appendix: the own aux field.
    SetAuxSelf
  | -- | Appendix: the aux field of a passive thread.
    SetAuxOther
  | -- | Appendix: the own activation.
    InvokeDequeueActSelf
  | -- | Appendix: the activation of a passive thread.
    InvokeDequeueActOther
  | -- | Appendix: the own activation.
    InvokeEnqueueActSelf
  | -- | Appendix: the activation of a passive thread.
    InvokeEnqueueActOther
  | -- | Appendix: an operation on an SCont that is not passive raises an exception.
    NotPassive
  | -- | §9: a stale SCont is passed over by @enqueueAct@.
    EnqueueStale
  | -- | §4.1: @forkIO@.
    Fork
  | -- | §6.6: @newEmptyMVar@.
    NewMVar
  | -- | §6.6: @takeMVar@ of a full MVar.
    TakeMVar
  | -- | §6.6: @putMVar@ of an empty MVar.
    PutMVar
  | -- | §6.6: a thread blocks on an MVar.
    BlockMVar
  | -- | §6.6: a thread that was blocked on an MVar is served.
    ResumeMVar
  | -- | §6.7: @throwTo@.
    ThrowTo
  | -- | §6.7: the target does not take the exception yet; the thrower blocks.
    BlockThrow
  | -- | §6.7: the exception reached its target; the thrower goes on.
    ResumeThrow
  | -- | §6.7: an unmasked thread receives an exception.
    Receive
  | -- | §6.7: a masked thread that waits receives an exception.
    Interrupt
  deriving (Eq, Ord, Show, Enum, Bounded)
