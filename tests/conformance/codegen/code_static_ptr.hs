-- Static pointers: dereferencing, keys and look-up by key in the program's table.
{-# LANGUAGE StaticPointers #-}
import GHC.StaticPtr
import Data.List (nub)

square :: Int -> Int
square x = x * x

table :: [StaticPtr (Int -> Int)]
table = [static square, static (\x -> x + 1), static negate]

main :: IO ()
main = do
  print (map (\p -> deRefStaticPtr p 7) table)
  let keys = map staticKey table
  print (length (nub keys))
  found <- mapM unsafeLookupStaticPtr keys :: IO [Maybe (StaticPtr (Int -> Int))]
  print (map (fmap (\p -> deRefStaticPtr p 9)) found)
  allKeys <- staticPtrKeys
  print (length allKeys, all (`elem` allKeys) keys)
  print (map (spInfoModuleName . staticPtrInfo) table)
