-- One small pinned buffer kept from every megabyte allocated: what is kept does not cost a block for each collection.
-- args: +RTS -M16m -RTS
import Control.Monad
import Data.Word
import Foreign

main :: IO ()
main = do
  kept <- forM [1 .. 3000 :: Int] $ \i -> do
    fp <- mallocForeignPtrBytes 16 :: IO (ForeignPtr Word64)
    withForeignPtr fp $ \p -> poke p (fromIntegral i)
    when (length (show (product [1 .. fromIntegral (50 + i `mod` 3) :: Integer])) + sum (map fromEnum (concatMap show [1 .. 800 + i `mod` 7])) < 0) $ print i
    return fp
  values <- forM kept $ \fp -> withForeignPtr fp peek
  print (sum values, values == [1 .. 3000])
