-- How often sequences of some lengths occur in a strand of DNA: a thread for each length. Argument: the length of the
-- strand.
-- ghc: -O
-- needs: hecaton
import Control.Exception
import Data.Bits
import qualified Data.ByteString as B
import qualified Data.IntMap.Strict as M
import Data.Word
import System.Environment
import Threads

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  dna <- evaluate (strand n)
  counts <- withThreads $ \fork -> forkAll fork [return (frequencies k dna) | k <- [1, 2, 3, 4, 6, 12, 18]]
  mapM_ print [(M.size count, maximum count) | count <- counts]

-- | Nucleotides, two bits each.
strand :: Int -> B.ByteString
strand n = fst (B.unfoldrN n (\seed -> Just (nucleotide seed, next seed)) 42)
  where
    next seed = (seed * 3877 + 29573) `mod` 139968 :: Int
    nucleotide seed = fromIntegral (seed * 4 `div` 139968) :: Word8

-- | The number of occurrences of each sequence of length @k@, by its bits.
frequencies :: Int -> B.ByteString -> M.IntMap Int
frequencies k dna = snd (B.foldl' count (code 0 (B.take (k - 1) dna), M.empty) (B.drop (k - 1) dna))
  where
    code = B.foldl' shiftIn
    shiftIn bits x = (bits `shiftL` 2 .|. fromIntegral x) .&. (1 `shiftL` (2 * k) - 1)
    count (bits, counts) x = bits' `seq` counts' `seq` (bits', counts')
      where
        bits' = shiftIn bits x
        counts' = M.insertWith (+) bits' 1 counts
