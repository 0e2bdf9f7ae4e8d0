-- A loop that recurses some thousand frames deep, again and again: the stack that it needs is made once.
-- args: +RTS -T -RTS
import Control.Monad
import GHC.Stats

main :: IO ()
main =
  forM_ [300, 500, 1000, 1200 :: Int] $ \n -> do
    before <- getRTSStats
    forM_ [1 .. 2000 :: Int] $ \k -> do
      xs <- mapM return [k .. n + k]
      when (sum xs == k) (print xs)
    after <- getRTSStats
    -- A list and what its elements take is 40 bytes for each.
    print (n, (allocated_bytes after - allocated_bytes before) `div` (2000 * fromIntegral n) < 48)
