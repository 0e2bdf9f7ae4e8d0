-- Graphs: shortest paths, strongly connected components and depth-first numbering over IntMap adjacency.
-- args: 30000
import Data.Graph
import qualified Data.IntMap.Strict as IM
import qualified Data.IntSet as IS
import qualified Data.Set as S
import System.Environment

type G = IM.IntMap [(Int, Int)]

graph :: Int -> G
graph n = IM.fromList [ (v, [ ((v * 31 + k * 1013 + v * v `div` 7) `mod` n, 1 + (v * k * 7) `mod` 23) | k <- [1 .. 4] ]) | v <- [0 .. n - 1] ]

dijkstra :: G -> Int -> IM.IntMap Int
dijkstra g s = go (S.singleton (0, s)) (IM.singleton s 0)
  where
    go q dist = case S.minView q of
      Nothing -> dist
      Just ((d, v), q')
        | d > dist IM.! v -> go q' dist
        | otherwise -> let (q2, dist2) = foldl relax (q', dist) (g IM.! v) in go q2 dist2
        where relax (qq, dd) (w, c) = let nd = d + c in case IM.lookup w dd of
                Just old | old <= nd -> (qq, dd)
                _ -> (S.insert (nd, w) qq, IM.insert w nd dd)

bfs :: G -> Int -> [Int]
bfs g s = go (IS.singleton s) [s]
  where go _ [] = []
        go seen fr = length fr : go seen' (IS.toList next)
          where next = IS.fromList [ w | v <- fr, (w, _) <- g IM.! v ] `IS.difference` seen
                seen' = seen `IS.union` next

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let g = graph n
      d = dijkstra g 1
  print (IM.size d, IM.foldl' (+) 0 d, maximum (IM.elems d))
  print (bfs g 2)
  let sccs = stronglyConnComp [ (v, v, map fst es) | (v, es) <- IM.toList g ]
  print (length sccs, maximum (map (length . flattenSCC) sccs))
