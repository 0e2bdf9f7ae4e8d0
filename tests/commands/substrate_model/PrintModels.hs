-- Prints random programs of the model as modules of Haskell programs with numbers, says how each may end, and how often
-- each rule was taken. The arguments are a seed, and how many programs of each sort are to be run.
--
-- A program is left out if its states are too many, if it has nothing to compare, or if it may fault or deadlock: the
-- runtime goes on after the first, and raises exceptions after the second.
module Main (main) where

import Control.Monad
import qualified Data.Map.Strict as Map
import qualified Data.Set as Set
import Hecaton.Substrate.Model
import Hecaton.Substrate.Model.Rule (Rule)
import ModelGenerator
import ModelHaskell
import System.Environment
import Test.QuickCheck (Gen, infiniteListOf)
import Test.QuickCheck.Gen (unGen)
import Test.QuickCheck.Random (mkQCGen)

-- | Programs that are run in the same way.
data Sort = Sort
  { nameOf :: String,
    samples :: Gen Sample,
    -- | Where the runtime may stop their threads.
    ticksOf :: Ticks,
    -- | More states are too many.
    statesOf :: Int
  }

sorts :: [Sort]
sorts =
  [ Sort "any" anySample AtTickPoints 1000,
    Sort "cooperative" cooperativeSample AtTickPoints 1000,
    Sort "ticking" anySample Everywhere 500,
    Sort "plain" plainSample AtTickPoints 500
  ]

-- | What becomes of a program.
data Use = IsRun | HasManyStates | IsSilent | MayFault | MayDeadlock
  deriving (Eq, Show, Enum, Bounded)

useOf :: Exploration -> Use
useOf found
  | not (complete found) = HasManyStates
  | any isFault how = MayFault
  | Deadlocked `elem` how = MayDeadlock
  | all (null . outputs) (Set.toList (outcomes found)) = IsSilent
  | otherwise = IsRun
  where
    how = map ends (Set.toList (outcomes found))
    isFault e = case e of
      Faulted _ -> True
      _ -> False

-- | The first programs of a sort up to the one with this number among those that are run.
explored :: Int -> Int -> Sort -> [(Sample, Exploration)]
explored seed n sort = upTo n [(s, explore (settings s) (compile s)) | s <- random]
  where
    random = unGen (infiniteListOf (samples sort)) (mkQCGen seed) 30
    settings s = (settingsOf s) {ticks = ticksOf sort, stateLimit = statesOf sort}
    upTo 0 _ = []
    upTo k (x : xs) = x : upTo (if useOf (snd x) == IsRun then k - 1 else k) xs
    upTo _ [] = []

main :: IO ()
main = do
  [seed, n] <- map read <$> getArgs
  let every = [(sort, explored seed n sort) | sort <- sorts]
      run = zip [0 :: Int ..] [(sort, x) | (sort, xs) <- every, x <- xs, useOf (snd x) == IsRun]
  writeFile "Models.hs" . unlines $
    modulePrefix OfRuntime "Models (ending, programs)" : programs [(i, s) | (i, (_, (s, _))) <- run]
  writeFile "UnderLibrary.hs" . unlines $
    modulePrefix OfLibrary "UnderLibrary (forking, ending, programs)"
      : programs [(i, s) | (i, (sort, (s, _))) <- run, nameOf sort == "plain"]
  writeFile "programs" (unlines [unwords [show i, nameOf sort, show (hecsOf s)] | (i, (sort, (s, _))) <- run])
  writeFile "expected" . unlines $
    [unwords (show i : outputs o ++ [how (ends o)]) | (i, (_, (_, found))) <- run, o <- Set.toList (outcomes found)]
  -- How often the programs that are run, and all, took a rule.
  let counts = Map.unionsWith (+) . map (taken . snd)
      (ofRun, ofAll) = (counts (map (snd . snd) run), counts (concatMap snd every))
      number = Map.findWithDefault 0
  writeFile "rules" . unlines $
    [unwords [show r, show (number r ofRun), show (number r ofAll)] | r <- [minBound .. maxBound :: Rule]]
  forM_ every $ \(sort, xs) -> do
    let used u = show u ++ " " ++ show (length (filter ((== u) . useOf . snd) xs))
    putStrLn (nameOf sort ++ ": " ++ unwords (map used [minBound ..]))
  where
    how e = case e of
      Uncaught exn -> show exn
      other -> show other

-- | The definitions of programs, and of the function that has them by number.
programs :: [(Int, Sample)] -> [String]
programs numbered =
  ["-- " ++ show s ++ "\n" ++ haskell ("program" ++ show i) (compile s) | (i, s) <- numbered]
    ++ ["programs :: Int -> IO ()"]
    ++ ["programs " ++ show i ++ " = program" ++ show i | (i, _) <- numbered]
    ++ ["programs _ = fail \"there is no such program\""]
