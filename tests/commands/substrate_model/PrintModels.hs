-- Prints random programs of the model as a module Main that runs the one with the number given, and says how each may
-- end. Only those have a number that need no part of the substrate that is not built: 60 with one HEC, and threads that
-- run until they switch; and 40 that do not use the substrate. The latter are printed twice: also with the threads
-- and MVars of the package.
module Main (main) where

import Control.Monad
import qualified Data.Map.Strict as Map
import qualified Data.Set as Set
import Hecaton.Substrate.Model
import Hecaton.Substrate.Model.Rule
import ModelGenerator
import ModelHaskell
import Test.QuickCheck (Gen, vectorOf)
import Test.QuickCheck.Gen (unGen)
import Test.QuickCheck.Random (mkQCGen)

main :: IO ()
main = do
  let printed = random 40 anySample
      explored samples = [(s, explore (settingsOf s) (compile s)) | s <- samples]
      cooperative = filter (switchesOnly . snd) (explored (random 5000 cooperativeSample))
      plain' = explored (random 2000 plainSample)
      comparables most = take most . filter (comparable . snd)
      run = zip [1 :: Int ..] (comparables 60 cooperative ++ comparables 40 plain')
  writeFile "Models.hs" . unlines $
    [modulePrefix OfRuntime "Main (main)"]
      ++ programs [(i, s) | (i, (s, _)) <- run]
      ++ [haskell ("printed" ++ show i) (compile s) | (i, s) <- zip [1 :: Int ..] printed]
      ++ ["main :: IO ()", "main = getLine >>= ending . programs . read"]
  writeFile "UnderLibrary.hs" . unlines $
    [modulePrefix OfLibrary "UnderLibrary (forking, ending, programs)"]
      ++ programs [(i, s) | (i, (s, _)) <- drop 60 run]
  writeFile "expected" . unlines $
    [ unwords (show (i - 1) : outputs o ++ [how (ends o)])
      | (i, (_, found)) <- run,
        o <- Set.toList (outcomes found)
    ]
  writeFile "rules" (unlines (map show (Map.keys (Map.unionsWith (+) [taken found | (_, (_, found)) <- run]))))
  when (length run < 100) $ fail "too few programs can be run"
  where
    how e = case e of
      Uncaught exn -> show exn
      other -> show other

-- | The definitions of programs, and of the function that has them by number.
programs :: [(Int, Sample)] -> [String]
programs numbered =
  [haskell ("program" ++ show i) (compile s) | (i, s) <- numbered]
    ++ ["programs :: Int -> IO ()"]
    ++ ["programs " ++ show (i - 1) ++ " = program" ++ show i | (i, _) <- numbered]
    ++ ["programs _ = fail \"there is no such program\""]

random :: Int -> Gen b -> [b]
random n one = unGen (vectorOf n one) (mkQCGen 45) 30

-- | Whether a program needs no upcall.
switchesOnly :: Exploration -> Bool
switchesOnly found = all (`Map.notMember` taken found) [UpDequeue, TRetrySwitch, TRetryAtomic]

-- | Whether all ends of a program are known, there is some output to compare, and none is a fault or a deadlock.
comparable :: Exploration -> Bool
comparable found =
  complete found
    && all ended (map ends (Set.toList (outcomes found)))
    && any ((> 2) . length . outputs) (Set.toList (outcomes found))
  where
    ended e = case e of
      Returned -> True
      Uncaught _ -> True
      _ -> False
