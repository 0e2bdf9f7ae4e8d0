-- Ormolu formats a generated module with GHC's own parser: records, do blocks, guards, classes, instances, type
-- families.
-- needs: ormolu
-- args: 150
-- timeout: 120
{-# LANGUAGE OverloadedStrings #-}
import qualified Data.Text as T
import Ormolu
import System.Environment

source :: Int -> String
source n = unlines (["{-# LANGUAGE TypeFamilies #-}", "module   Generated ( module Generated ) where", "import qualified Data.Map as M", "import Data.List(sortBy,   nub)"]
  ++ concatMap item [1 .. n])

item :: Int -> [String]
item i = map (concatMap number . words')
  [ "-- | Declarations number @."
  , "data  T@ a = A@ { x@ :: Int, y@::[ a ] } | B@   (Maybe a)|C@ deriving (Eq,Show)"
  , "class  K@ a where { type F@ a :: * ; k@ :: a->F@ a ; l@ :: a -> Int ; l@ _ = @ }"
  , "instance K@ (T@ a)   where { type F@ (T@ a) = [a] ; k@ (A@ _ ys) = ys ; k@ _=[] }"
  , "f@   :: (Ord a,Show a)=>Int->M.Map Int [T@ a] -> Either String ( Maybe (T@ a) )"
  , "f@ n m = do"
  , "   let   k = n*@+1"
  , "         z = case M.lookup k m of { Just (v:_) -> Just v; Just [] | k>3,even k -> Nothing ; _ -> Nothing }"
  , "   if k>10 then Left (\"bad\" ++ show k) else   Right $ z"
  , "   where   g a b | a>b = a | otherwise=b"
  , "g@ :: [Int]->[Int]"
  , "g@ xs=[ if x>@ then x+y else (\\z->z*z) $ x-y|x<-nub xs,y<-sortBy (\\a b->compare b a) xs,x/=y,let q=x,q>0 ]"
  , ""
  ]
  where
    number w = if w == "@" then show i else w
    words' s = case break (== '@') s of
      (a, _ : rest) -> a : "@" : words' rest
      (a, []) -> [a]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  formatted <- ormolu defaultConfig "Generated.hs" (source n)
  putStrLn (T.unpack (T.unlines (take 30 (T.lines formatted))))
  print (T.length formatted, length (T.lines formatted))
