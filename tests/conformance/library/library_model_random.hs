-- The model of the substrate: random programs, how often they took each rule, invariants and laws.
-- ghc: -O
-- exit: 0
-- timeout: 120
-- skip-check: pure, and long with the heap checked
-- needs: hecaton containers QuickCheck
import Control.Monad
import Data.IORef
import Data.List (sortOn)
import qualified Data.Map.Strict as Map
import qualified Data.Set as Set
import Hecaton.Substrate.Model
import Hecaton.Substrate.Model.Rule (Rule)
import Hecaton.Substrate.Model.State (Code)
import Hecaton.Substrate.Model.Term
import ModelGenerator
import ModelPrograms
import System.Exit
import Test.QuickCheck
import Test.QuickCheck.Random (mkQCGen)

check :: Int -> Property -> IO Bool
check runs law = do
  answer <- quickCheckWithResult args law
  putStr (output answer)
  pure (isSuccess answer)
  where
    args = stdArgs {replay = Just (mkQCGen 45, 0), maxSuccess = runs, chatty = False, maxDiscardRatio = 50}

run :: Sample -> Exploration
run s = explore (settingsOf s) (compile s)

-- | No reachable state breaks an invariant, and what is taken is counted.
invariants :: IORef (Map.Map Rule Int) -> Property
invariants counts = forAllShrink anySample shrinkSample $ \s ->
  let found = run s
   in ioProperty $ do
        modifyIORef' counts (Map.unionWith (+) (taken found))
        pure . counterexample (show (take 1 (broken found))) $ null (broken found)

-- | Two programs have the same outcomes.
same :: Settings -> Code -> Code -> Property
same settings p q =
  let found = explore settings p
      found' = explore settings q
   in complete found && complete found' ==> outcomes found === outcomes found'

-- | The first program has no other outcomes than the second.
refines :: Exploration -> Exploration -> Property
refines found found' =
  complete found' ==> counterexample (show (Set.difference (outcomes found) (outcomes found'))) $
    outcomes found `Set.isSubsetOf` outcomes found'

-- | A program that does not use the substrate has under any scheduler the outcomes that it may have anyway.
underScheduler :: Property
underScheduler = forAllShrink plainSample shrinkSample $ \s ->
  forAll (elements [(policy, hecs) | policy <- [RoundRobin, Stack, Marking], hecs <- [1, 2]]) $ \(policy, hecs) ->
    run s {policyOf = Just policy, hecsOf = hecs} `refines` run s

-- | Threads that are forked together have no order.
forksCommute :: Property
forksCommute = forAllShrink plainSample shrinkSample $ \s ->
  let fork as = Fork (compile s {others = [], mainActions = as})
      p = fork (concat (take 1 (others s)))
      q = fork (mainActions s)
   in same (settingsOf s) (p >>> q >>> say 0) (q >>> p >>> say 0)

-- | Laws of the monad and of handlers, with what a program does in their context.
laws :: Property
laws = forAllShrink anySample shrinkSample $ \s ->
  let m = compile s
      equal = same (settingsOf s)
   in conjoin
        [ equal m (Return (int 1) >>>= const m),
          equal m (m >>>= Return),
          equal m ((m >>> Return unit) >>> Return unit),
          equal m (catching m (\e -> Throw e))
        ]

-- | Writes of different variables commute in a transaction; @retry@ is the unit of @orElse@; one transaction has no
-- other outcomes than two.
transactions :: Property
transactions = forAllShrink plainSample shrinkSample $ \s ->
  let with middle = compile s {mainActions = middle ++ mainActions s}
      limits = settingsOf s
   in conjoin
        [ same limits (with [Tx [Write 0 1, Write 1 2]]) (with [Tx [Write 1 2, Write 0 1]]),
          same limits (with [Tx [Choose [Again] [Await 0, Add 1 1]]]) (with [Tx [Await 0, Add 1 1]]),
          explore limits (with [Tx [Write 0 1, Write 1 2]])
            `refines` explore limits (with [Tx [Write 0 1], Tx [Write 1 2]])
        ]

main :: IO ()
main = do
  counts <- newIORef Map.empty
  results <-
    sequence
      [ check 120 (invariants counts),
        check 20 underScheduler,
        check 10 forksCommute,
        check 10 laws,
        check 6 transactions
      ]
  every <- readIORef counts
  let number rule = Map.findWithDefault 0 rule every
      never' = [rule | rule <- [minBound .. maxBound], number rule == 0]
  forM_ (sortOn show [minBound .. maxBound :: Rule]) $ \rule -> putStrLn (show rule ++ " " ++ show (number rule))
  unless (null never') $ putStrLn ("never taken: " ++ show never')
  unless (and results && null never') exitFailure
