-- An hspec suite with QuickCheck properties, a pending and a failing example; a fixed seed, no colours and no timing.
-- needs: hspec QuickCheck
import Control.Exception
import Data.List
import qualified Data.Map as M
import System.IO
import Test.Hspec
import qualified Test.Hspec.Core.Formatters as F
import Test.Hspec.Core.Runner
import Test.Hspec.QuickCheck
import Test.QuickCheck

insertAll :: [(Int, Int)] -> M.Map Int Int
insertAll = foldl' (\m (k, v) -> M.insert k v m) M.empty

spec :: Spec
spec = do
  describe "lists" $ do
    it "reverses" $ reverse [1, 2, 3 :: Int] `shouldBe` [3, 2, 1]
    prop "sorts to an ordered permutation" $ \xs -> let s = sort (xs :: [Int]) in and (zipWith (<=) s (drop 1 s)) && length s == length xs && null (s \\ xs)
    prop "appends associatively" $ \a b c -> (a ++ b) ++ c == a ++ (b ++ c :: [Integer])
  describe "maps" $ do
    prop "looks up the last inserted" $ \kvs -> let m = insertAll kvs in all (\k -> M.lookup k m == lookup k (reverse kvs)) (map fst kvs)
    prop "has as many entries as keys" $ \kvs -> M.size (insertAll kvs) === length (nub (map fst kvs))
  describe "exceptions" $ do
    it "are expected" $ evaluate (1 `div` (0 :: Int)) `shouldThrow` (== DivideByZero)
    it "of error calls are expected" $ evaluate (error "text" :: Int) `shouldThrow` errorCall "text"
    it "is pending" $ pendingWith "later"
    it "fails" $ (2 + 2 :: Int) `shouldBe` 5
  describe "properties that fail" $
    it "are shrunk" $ property $ \n -> (n :: Int) < 30
  around (bracket (return 5) (\_ -> return ())) $ describe "around" $ it "gets its resource" $ \n -> n `shouldBe` (5 :: Int)

-- The usual report without its time.
formatter :: F.Formatter
formatter = F.specdoc { F.footerFormatter = do { t <- F.getTotalCount; f <- F.getFailCount; p <- F.getPendingCount; F.writeLine (show (t, f, p)) } }

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  summary <- runSpec spec defaultConfig { configQuickCheckSeed = Just 42, configColorMode = ColorNever, configPrintCpuTime = False, configConcurrentJobs = Just 1, configRandomize = False, configTimes = False, configFormatter = Just formatter }
  print summary
  r <- quickCheckWithResult stdArgs { chatty = False, maxSuccess = 500 } (forAll (choose (1, 1000 :: Int)) (\n -> gcd n (n + 1) == 1))
  print (case r of { Success {} -> numTests r; _ -> -1 })
