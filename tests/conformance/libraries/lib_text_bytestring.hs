-- Text and ByteString: packing, slicing, searching, encoding, lazy forms, reading and writing files.
{-# LANGUAGE OverloadedStrings #-}
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Lazy as L
import qualified Data.ByteString.Short as Short
import qualified Data.Text as T
import qualified Data.Text.Encoding as E
import qualified Data.Text.IO as TIO
import qualified Data.Text.Lazy as TL
import qualified Data.Text.Lazy.Builder as TB
import qualified Data.Text.Read as R

main :: IO ()
main = do
  let b = B.pack (concat (replicate 1000 [0 .. 255]))
  print (B.length b, B.foldl' (\a w -> a + fromIntegral w) (0 :: Int) b, B.count 7 b, B.elemIndex 200 b)
  print (C.words "a bc  def", C.split ',' "x,y,,z", B.isInfixOf "bc" "abcd", C.readInt "-12rest")
  print (B.take 3 (B.drop 250 b), B.unpack (B.reverse (B.take 4 b)), fst (B.breakSubstring "\5\6" b))
  let t = T.replicate 500 "héllo wörld λ→∀ "
  print (T.length t, B.length (E.encodeUtf8 t), E.decodeUtf8 (E.encodeUtf8 t) == t)
  TIO.putStrLn (T.toUpper (T.take 16 t))
  print (T.splitOn "wö" (T.take 40 t), T.words "  a b\tc\n", T.replace "l" "LL" "hello")
  print (R.decimal "123abc" :: Either String (Int, T.Text))
  print (R.double "3.25e2", T.justifyRight 6 '0' "42", T.breakOn "=" "key=value", T.strip "  x ")
  let lz = L.fromChunks (replicate 100 (C.pack "chunk of bytes ")) 
  print (L.length lz, L.take 20 (L.drop 1400 lz), L.count 99 lz)
  print (TL.length (TB.toLazyText (mconcat (replicate 3000 (TB.fromText "ab" <> TB.singleton 'c')))))
  B.writeFile "bytes.tmp" b
  b2 <- B.readFile "bytes.tmp"
  l2 <- L.readFile "bytes.tmp"
  print (b == b2, L.toStrict l2 == b)
  print (Short.length (Short.toShort b), Short.fromShort (Short.toShort (B.take 5 b)))
  print (compare (C.pack "abc") "abd", T.pack "b" > "a", maximum (C.lines "q\nzz\na"))
