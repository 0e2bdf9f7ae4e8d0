-- Derived Show and Read: negative numbers, infix constructors, records, nested precedence.
import qualified Data.Map as M
import Text.Read (readMaybe)

data Op = Int :+: Op | End Int | Neg { unNeg :: Maybe Op } deriving (Show, Read, Eq, Ord)
infixr 5 :+:

main :: IO ()
main = do
  let v = (-1) :+: 2 :+: Neg { unNeg = Just (End (-3)) }
  print v
  print (read (show v) == v)
  print (readMaybe "(-1) :+: End 4" :: Maybe Op)
  print (readMaybe "Neg {unNeg = Nothing" :: Maybe Op)
  print (M.fromList [(i, Just (Left i :: Either Int String)) | i <- [1 .. 3]])
  print (read "[(1,\"a\\n\\1234\\&5\"),(2,\"\\SOH\\SO\\&H\")]" :: [(Int, String)])
  print "tab\there \"quoted\" \200\&1 \1234"
  print (showsPrec 11 (-5 :: Int) "", [Just (-1.5)], 'x', '\'', ())
  print (compare (End 3) (1 :+: End 1), maximum [End 3, End 9, End (-1)])
