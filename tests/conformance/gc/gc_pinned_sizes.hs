-- A few pinned bytes kept from every hundred buffers of a line's length: what is kept does not hold on to the buffers.
-- args: +RTS -M20m -RTS
import Control.Monad
import Data.Word
import Foreign

main :: IO ()
main = do
  kept <- forM [1 .. 1500 :: Word64] $ \i -> do
    lines' <- forM [0 .. 99] $ \k -> do
      fp <- mallocForeignPtrBytes (80 + fromIntegral k) :: IO (ForeignPtr Word64)
      withForeignPtr fp $ \p -> poke p (i + k)
      return fp
    total <- sum <$> forM lines' (\fp -> withForeignPtr fp peek)
    key <- mallocForeignPtrBytes 8
    withForeignPtr key $ \p -> poke p (total `div` 100)
    return key
  values <- forM kept $ \fp -> withForeignPtr fp peek
  print (sum values, values == map (+ 49) [1 .. 1500])
