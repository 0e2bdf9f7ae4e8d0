-- lens: getters, setters, traversals, prisms, indexed and state operators over nested records and maps.
-- needs: lens
{-# LANGUAGE RankNTypes #-}
import Control.Lens
import Control.Monad.State
import qualified Data.Map as M

data Address = Address { _street :: String, _zipCode :: Int } deriving (Show, Eq)
data Person = Person { _name :: String, _home :: Address, _friends :: [Person], _scores :: M.Map String Int } deriving (Show, Eq)

street :: Lens' Address String
street = lens _street (\a s -> a { _street = s })
zipCode :: Lens' Address Int
zipCode = lens _zipCode (\a z -> a { _zipCode = z })
name :: Lens' Person String
name = lens _name (\p n -> p { _name = n })
home :: Lens' Person Address
home = lens _home (\p h -> p { _home = h })
friends :: Lens' Person [Person]
friends = lens _friends (\p f -> p { _friends = f })
scores :: Lens' Person (M.Map String Int)
scores = lens _scores (\p s -> p { _scores = s })

person :: Int -> Person
person n = Person ("p" ++ show n) (Address ("street " ++ show n) (1000 + n)) [ person (n - k) | k <- [1, 2], n - k > 0 ] (M.fromList [ (show k, k * n) | k <- [1 .. 3] ])

main :: IO ()
main = do
  let p = person 8
  print (p ^. home . street, p ^.. friends . traverse . name, p ^? friends . ix 5 . name)
  let q = p & home . zipCode +~ 5 & friends . traverse . friends . traverse . name %~ reverse & scores . at "new" ?~ 7 & scores . at "1" .~ Nothing
  print (q ^. home . zipCode, q ^.. friends . each . friends . each . name, q ^. scores)
  print (sumOf (friends . traverse . scores . traverse) q, lengthOf (friends . traverse . friends . traverse) q, anyOf traverse (> 3) [1, 2, 4 :: Int])
  print (execState (do { home . street .= "moved"; friends . traverse . home . zipCode *= 2; scores . ix "2" -= 1 }) p ^.. friends . traverse . home . zipCode)
  print ([Left 1, Right 'a', Left 2] ^.. traverse . _Left :: [Int], (1, (2, 3)) & _2 . _1 .~ "x")
  print (toListOf (itraversed . withIndex) "abc", M.fromList [(1, 'a'), (2, 'b')] & itraversed %@~ \i c -> replicate i c)
  print (over (partsOf (traverse . _2)) reverse [(1, 'a'), (2, 'b'), (3, 'c')], "12 34" ^.. worded, 5 ^. to (+ 1), from (iso show read) # (17 :: Int) :: String)
