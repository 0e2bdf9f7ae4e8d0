-- Type representations at run time: typeRep, cast, Dynamic, and exceptions selected by type.
import Data.Dynamic
import Data.Typeable
import qualified Data.Map as M
import Data.Maybe

data Box f a = Box (f a)

main :: IO ()
main = do
  print (typeOf (Just [1 :: Int]), typeOf (M.empty :: M.Map String (Maybe Bool)), typeRep (Proxy :: Proxy (Either Int)))
  print (typeOf (Box (Just 'c')), typeOf (undefined :: Int -> IO ()))
  print (cast 'x' :: Maybe Char, cast 'x' :: Maybe Int, gcast (Just True) :: Maybe (Maybe Bool))
  let ds = [toDyn (1 :: Int), toDyn "two", toDyn (3.0 :: Double), toDyn (Just 'f')]
  print ds
  print (mapMaybe fromDynamic ds :: [Int], mapMaybe fromDynamic ds :: [String])
  print (typeOf 'a' == typeOf 'b', typeOf () == typeOf 'a', compare (typeOf ()) (typeOf ()))
  print (fmap (typeRepTyCon . typeOf) [Just 1 :: Maybe Int], splitTyConApp (typeOf (Left 1 :: Either Int Bool)))
