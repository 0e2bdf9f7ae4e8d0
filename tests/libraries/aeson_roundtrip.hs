-- aeson: encoding, decoding, generic instances, errors, and a large document round trip.
-- needs: aeson
{-# LANGUAGE DeriveGeneric, OverloadedStrings #-}
import Control.Monad
import Data.Aeson
import qualified Data.ByteString.Lazy.Char8 as L
import qualified Data.Map as M
import qualified Data.Text as T
import GHC.Generics

data Item = Item { itemId :: Int, title :: T.Text, price :: Double, tags :: [T.Text], parent :: Maybe Item } deriving (Show, Eq, Generic)
instance ToJSON Item
instance FromJSON Item

data Shape = Circle { radius :: Double } | Square { side :: Double, filled :: Bool } | Empty deriving (Show, Eq, Generic)
instance ToJSON Shape
instance FromJSON Shape

item :: Int -> Item
item n = Item n (T.pack ("item λ \"" ++ show n ++ "\"\n")) (fromIntegral n / 8) [ T.pack (show k) | k <- [1 .. n `mod` 7] ] (if n `mod` 3 == 0 && n > 0 then Just (item (n `div` 3)) else Nothing)

main :: IO ()
main = do
  let items = map item [0 .. 3000]
      text = encode items
  print (L.length text)
  print (decode text == Just items)
  mapM_ (L.putStrLn . encode) [Circle 1.5, Square 2 True, Empty]
  print (mapM (decode . encode) [Circle 1.5, Square 2 True, Empty] :: Maybe [Shape])
  print (eitherDecode "{\"tag\":\"Square\",\"side\":1}" :: Either String Shape)
  print (eitherDecode "[1, 2, x]" :: Either String [Int])
  print (eitherDecode "[1e3, 2.5, -7]" :: Either String [Double])
  print (decode "{\"b\":[true,null,\"\\u03bb\"],\"a\":{}}" :: Maybe Value)
  print (decode (encode (M.fromList [ (show n, n * n) | n <- [1 .. 50 :: Int] ])) == Just (M.fromList [ (show n, n * n) | n <- [1 .. 50 :: Int] ]))
  forM_ [1 .. 3 :: Int] $ \n -> print (fmap length (decode (encode (replicate (n * 1000) (Just n))) :: Maybe [Maybe Int]))
