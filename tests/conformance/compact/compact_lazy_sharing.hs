-- compactWithSharing of what is evaluated on the way: between any two steps objects, young and old, may move.
import Control.Exception
import Control.Monad
import GHC.Compact
import System.IO.Unsafe
import System.Mem

data Node = Node Int String [Node]

-- Each node shares the one before it, twice, and the first; every few of them collect when they are evaluated.
nodes :: Int -> [Node]
nodes n = all'
  where
    all' = scanl next (Node 0 "first" []) [1 .. n]
    next before i = collecting i (Node i (show i) [before, head all', before])

collecting :: Int -> a -> a
collecting i x
  | i `mod` 997 == 0 = unsafePerformIO (performMajorGC >> return x)
  | i `mod` 101 == 0 = unsafePerformIO (performMinorGC >> return x)
  | otherwise = x

main :: IO ()
main = do
  c <- compactWithSharing (nodes 4000)
  performMajorGC
  let copied = getCompact c
      Node _ first _ = head copied
  print (length copied, first, sum [length s + length shared | Node _ s shared <- copied])
  -- Had sharing been lost, this would be exponentially large.
  size <- compactSize c
  print (size < 4000 * 600)
  -- A cycle of thunks.
  let ring = [collecting (i * 101) (Node i (show i) [ring !! (i `mod` 50)]) | i <- [1 .. 50]]
  r <- compactWithSharing ring
  performMajorGC
  let walk (Node i _ [after]) = i : walk after
      walk _ = []
  print (sum (take 1000 (walk (head (getCompact r)))))
  -- What an exception has put an end to can be begun again.
  bad <- try (compactWithSharing (nodes 2000, error "lazy" :: Int))
  putStrLn (either (\(ErrorCall e) -> e) (const "copied") (void bad))
  again <- compactWithSharing (nodes 2000)
  print (length (getCompact again))
