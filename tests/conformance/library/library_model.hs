-- The model of the substrate: a small program for each rule with all its outcomes, and laws of programs.
-- ghc: -O
-- exit: 0
-- needs: hecaton containers
import Control.Monad
import qualified Data.Map.Strict as Map
import qualified Data.Set as Set
import Hecaton.Substrate.Model
import Hecaton.Substrate.Model.Rule (Rule)
import qualified Hecaton.Substrate.Model.Rule as Rule
import Hecaton.Substrate.Model.State (Code)
import Hecaton.Substrate.Model.Term
import ModelPrograms
import System.Exit

-- | A program, rules that it is to take, and its outcomes.
data Unit' = Unit' Settings [Rule] Code [Outcome]

returned :: [String] -> Outcome
returned os = Outcome os Returned

units :: [Unit']
units =
  [ Unit' plain [Rule.PureStep, Rule.Output, Rule.EndSCont] (Return (int 1) >>>= out) [returned ["1"]],
    Unit' plain [Rule.EndSCont] (throw 1 >>> say 1) [Outcome [] (Uncaught (User 1))],
    Unit' plain [Rule.EnterCatch, Rule.IOCatch] (catching (Return (int 1)) (const (say 2)) >>>= out) [returned ["1"]],
    Unit' plain [Rule.IOCatchExn] (catching (throw 1 >>> say 2) out) [returned ["User 1"]],
    Unit' plain [Rule.EnterMask, Rule.LeaveMask] (Mask MaskedInterruptible (say 1) >>> say 2) [returned ["1", "2"]],
    Unit'
      plain
      [Rule.TAtomic, Rule.TNew, Rule.TRead, Rule.TWrite]
      (Atomically (newTVar (int 1) >>>= \r -> writeTVar r (int 2) >>> readTVar r) >>>= out)
      [returned ["2"]],
    Unit'
      plain
      [Rule.TThrow]
      ( newTVarIO (int 0) >>>= \r ->
          catching (Atomically (writeTVar r (int 1) >>> throw 1)) out >>> readTVarIO r >>>= out
      )
      [returned ["User 1", "0"]],
    Unit' plain [Rule.TCatch] (Atomically (catching (Return (int 1)) (const retry)) >>>= out) [returned ["1"]],
    Unit'
      plain
      [Rule.TCExn]
      ( newTVarIO (int 0) >>>= \r ->
          Atomically (catching (writeTVar r (int 1) >>> throw 1) (const (readTVar r))) >>>= out
      )
      [returned ["0"]],
    Unit'
      plain
      [Rule.TCRetry, Rule.TOrElseSecond]
      ( newTVarIO (int 0) >>>= \r ->
          let retries = writeTVar r (int 1) >>> catching retry (const (Return unit))
           in Atomically (OrElse retries (Return unit) >>> readTVar r) >>>= out
      )
      [returned ["0"]],
    Unit' plain [Rule.TOrElseFirst] (Atomically (OrElse (Return (int 1)) retry) >>>= out) [returned ["1"]],
    Unit' plain [Rule.TRetryAtomic] (Atomically retry) [Outcome [] Deadlocked],
    -- Nobody switches back.
    Unit'
      plain
      [Rule.NewSCont, Rule.Switch]
      (NewSCont (say 1) >>>= \s -> switching (const (Return s)) >>> say 2)
      [Outcome ["1"] Deadlocked],
    Unit' plain [Rule.Switch] (backAndForth (const (say 2))) [returned ["1", "2"]],
    Unit' plain [Rule.SwitchSelf] (switching Return >>> say 1) [returned ["1"]],
    Unit'
      plain
      [Rule.SwitchExn]
      ( newTVarIO (int 0) >>>= \r ->
          catching (switching (\_ -> writeTVar r (int 1) >>> throw 1)) out >>> readTVarIO r >>>= out
      )
      [returned ["User 1", "0"]],
    -- The transaction stands, and the queue has this thread.
    Unit'
      plain
      [Rule.SwitchStale]
      (scheduler RoundRobin 1 . const . backAndForth $ \r -> switching (\s -> enqueueAct s >>> readTVar r) >>> say 2)
      [returned ["1", "2"]],
    Unit'
      plain
      [Rule.EnqueueStale]
      (scheduler RoundRobin 1 . const . backAndForth $ \r -> Atomically (readTVar r >>>= enqueueAct) >>> say 2)
      [returned ["1", "2"]],
    -- The chosen one is blocked.
    Unit'
      plain
      [Rule.SwitchRunning, Rule.TWakeup]
      ( scheduler RoundRobin 1 . const $
          newTVarIO unit >>>= \r ->
            newTVarIO (int 0) >>>= \flag ->
              Fork
                ( switching (\s -> writeTVar r s >>> Return s)
                    >>> writeTVarIO flag (int 1)
                    >>> (newMVar >>>= takeMVar)
                )
                >>> await flag
                >>> switching (const (readTVar r))
      )
      [Outcome [] (Faulted ChoseRunning)],
    Unit' plain [Rule.SwitchBuiltIn] (yield >>> say 1) [returned ["1"]],
    Unit'
      twoHecs
      [Rule.RunOnIdleHEC]
      (NewSCont (say 1) >>>= runOnIdleHEC >>> say 2)
      [returned ["1", "2"], returned ["2", "1"], returned ["2"]],
    Unit'
      plain
      [Rule.RunOnIdleHEC]
      (scheduler RoundRobin 1 . const $ NewSCont (say 1) >>>= \s -> catching (runOnIdleHEC s) out)
      [returned ["NoIdleHEC"]],
    -- @main@ is a thread of the built-in scheduler.
    Unit'
      plain
      [Rule.RunOnIdleHEC]
      (NewSCont (say 1) >>>= runOnIdleHEC >>> newTVarIO (int 0) >>>= \r -> SetDequeueAct (lambda (const (readTVar r))))
      [returned [], returned ["1"]],
    Unit'
      ticking
      [Rule.Tick, Rule.SafePoint]
      (scheduler RoundRobin 1 . const $ Fork (say 1) >>> tick >>> say 2)
      [returned ["1", "2"], returned ["2"]],
    Unit'
      plain {ticks = Everywhere}
      [Rule.Tick]
      (scheduler RoundRobin 1 . const $ Fork (say 1) >>> say 2 >>> say 3)
      [returned ["1", "2", "3"], returned ["2", "1", "3"], returned ["2", "3", "1"], returned ["2", "3"]],
    Unit'
      plain
      [Rule.TRetryAtomic, Rule.UpDequeue, Rule.TRetrySwitch, Rule.UpEnqueueIdle, Rule.TWakeup, Rule.TResumeRetry]
      ( scheduler RoundRobin 1 . const $
          newTVarIO (int 0) >>>= \flag -> Fork (say 1 >>> writeTVarIO flag (int 1)) >>> await flag >>> say 2
      )
      [returned ["1", "2"]],
    Unit'
      plain
      [Rule.UpEnqueueRunning, Rule.Fork]
      (scheduler RoundRobin 1 . const $ Fork (say 1) >>> yield >>> say 2)
      [returned ["1", "2"], returned ["2"]],
    Unit'
      plain
      [Rule.UpRaised]
      (SetDequeueAct (lambda (const retry)) >>> SetEnqueueAct (lambda (const (throw 1))) >>> Fork (say 1) >>> say 2)
      [ returned ["2"],
        Outcome [] (Faulted (ActivationRaised (User 1))),
        Outcome ["2"] (Faulted (ActivationRaised (User 1)))
      ],
    Unit'
      plain
      [Rule.OCBlock, Rule.OCRetFast, Rule.OCSteal, Rule.OCRetSlow]
      (scheduler RoundRobin 1 . const $ Fork (say 1) >>> safeCall (int 2) >>>= out)
      [returned ["1", "2"], returned ["2"]],
    Unit'
      plain
      [Rule.EnterThunk, Rule.UpdateThunk]
      (NewThunk (Return (int 1)) >>>= \x -> force x >>>= out >>> force x >>>= out)
      [returned ["1", "1"]],
    Unit'
      ticking
      [Rule.BlockBH, Rule.ResumeBH]
      ( scheduler RoundRobin 1 . const $
          newMVar >>>= \m ->
            NewThunk (tick >>> Return (int 1)) >>>= \x ->
              Fork (force x >>>= putMVar m) >>> force x >>>= out >>> takeMVar m >>>= out
      )
      [returned ["1", "1"]],
    Unit'
      ticking
      [Rule.StealBH]
      ( scheduler RoundRobin 1 . const $
          NewThunk (tick >>> Return (int 1)) >>>= \x ->
            newTVarIO (int 0) >>>= \r ->
              Fork (switching (\s -> force x >>>= writeTVar r >>> Return s) >>> readTVarIO r >>>= out)
                >>> force x
                >>>= \v -> say 2 >>> out v
      )
      [returned ["2", "1"], returned ["1", "2", "1"]],
    Unit'
      plain
      [Rule.SetAuxSelf, Rule.GetAuxSelf]
      ( newTVarIO nil >>>= \r ->
          switching (\s -> setAux s (int 1) >>> getAux s >>>= writeTVar r >>> Return s) >>> readTVarIO r >>>= \l ->
            uncons l (say 2) (\x _ -> out x)
      )
      [returned ["1"]],
    Unit'
      plain
      [Rule.SetAuxOther, Rule.GetAuxOther]
      ( NewSCont (say 3) >>>= \s ->
          Atomically (getAux s) >>>= \before ->
            Atomically (setAux s (int 1) >>> getAux s) >>>= \l ->
              uncons before (say 0) (const . const (say 4)) >>> uncons l (say 2) (const . out)
      )
      [returned ["0", "1"]],
    Unit'
      plain
      [Rule.SetDequeueAct, Rule.SetEnqueueAct, Rule.InvokeEnqueueActSelf, Rule.InvokeDequeueActSelf]
      (scheduler RoundRobin 1 (const (yield >>> say 1)))
      [returned ["1"]],
    Unit'
      plain
      [Rule.InvokeEnqueueActOther, Rule.InvokeDequeueActOther]
      ( scheduler RoundRobin 1 . const $
          NewSCont (say 1 >>> switching dequeueAct) >>>= \s ->
            Atomically (enqueueAct s) >>> switching (\me -> enqueueAct me >>> dequeueAct s) >>> say 2
      )
      [returned ["1", "2"]],
    Unit'
      plain
      [Rule.NotPassive]
      ( newTVarIO unit >>>= \r ->
          switching (\s -> writeTVar r s >>> Return s) >>> catching (Atomically (readTVar r >>>= enqueueAct)) out
      )
      [returned ["SContRunning"]],
    Unit' plain [Rule.Fork] (Fork (say 1) >>> say 2) [returned ["1", "2"], returned ["2", "1"], returned ["2"]],
    Unit'
      plain
      [Rule.NewMVar, Rule.PutMVar, Rule.TakeMVar, Rule.BlockMVar, Rule.ResumeMVar]
      ( newMVar >>>= \m ->
          Fork (putMVar m (int 1) >>> putMVar m (int 2)) >>> (takeMVar m >>>= out) >>> takeMVar m >>>= out
      )
      [returned ["1", "2"]],
    Unit'
      plain
      [Rule.ThrowTo, Rule.BlockThrow, Rule.ResumeThrow, Rule.Interrupt]
      ( newMVar >>>= \m ->
          newMVar >>>= \done ->
            Mask MaskedInterruptible (Fork (catching (takeMVar m) (\e -> out e >>> putMVar done unit))) >>>= \t ->
              throwTo t 1 >>> takeMVar done
      )
      [returned ["User 1"]],
    Unit'
      plain
      [Rule.Receive]
      ( newMVar >>>= \m ->
          newMVar >>>= \done ->
            Fork (catching (putMVar done unit >>> takeMVar m) (\e -> out e >>> putMVar done unit)) >>>= \t ->
              takeMVar done >>> throwTo t 1 >>> takeMVar done
      )
      [returned ["User 1"]],
    -- A thread is killed while it waits in a structure of the program; its entry there is passed over. The thread may
    -- not be in the queue yet when the main thread yields.
    Unit'
      plain
      [Rule.Receive, Rule.EnqueueStale]
      ( scheduler RoundRobin 1 . const $
          newTVarIO nil >>>= \waiting ->
            newMVar >>>= \done ->
              Fork
                ( catching
                    (switching (\s -> writeTVar waiting (Apply Cons [s, nil]) >>> dequeueAct s) >>> say 2)
                    (\e -> out e >>> putMVar done unit)
                )
                >>>= \t ->
                  yield
                    >>> readTVarIO waiting
                    >>>= \l ->
                      uncons l (say 4) $ \s _ ->
                        throwTo t 1 >>> Atomically (enqueueAct s) >>> takeMVar done >>> say 3
      )
      [returned ["User 1", "3"], returned ["4"]]
  ]
  where
    -- Goes on with a TVar that has the SCont from before a switch.
    backAndForth next =
      newTVarIO unit >>>= \r ->
        NewSCont (say 1 >>> switching (const (readTVar r))) >>>= \s ->
          switching (\me -> writeTVar r me >>> Return s) >>> next r

-- | Runs a program for each rule, and says which are missing.
checkUnits :: IO Bool
checkUnits = do
  results <- forM (zip [1 :: Int ..] units) $ \(i, Unit' settings rules program expected) -> do
    let found = explore settings program
        missing = filter (`Map.notMember` taken found) rules
        wrong =
          concat
            [ ["outcomes " ++ show (Set.toList (outcomes found)) | outcomes found /= Set.fromList expected],
              ["not taken: " ++ show missing | not (null missing)],
              ["not complete" | not (complete found)],
              [show texts | (_, texts) <- broken found]
            ]
    forM_ wrong $ \text -> putStrLn ("unit " ++ show i ++ ": " ++ text)
    pure (null wrong)
  let covered = Set.fromList (concat [rules | Unit' _ rules _ _ <- units])
      uncovered = filter (`Set.notMember` covered) [minBound .. maxBound]
  unless (null uncovered) $ putStrLn ("no unit program: " ++ show uncovered)
  putStrLn (show (length (filter id results)) ++ " of " ++ show (length results) ++ " programs are as expected")
  pure (and results && null uncovered)

main :: IO ()
main = do
  ok <- checkUnits
  unless ok exitFailure
