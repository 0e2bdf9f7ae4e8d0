-- References: a hash-consed binary decision diagram kept in IORefs and maps.
-- args: 15
import Control.Monad
import Data.IORef
import qualified Data.Map.Strict as M
import System.Environment

type Node = Int
data Store = Store { fresh :: IORef Int, unique :: IORef (M.Map (Int, Node, Node) Node), table :: IORef (M.Map Node (Int, Node, Node)), memo :: IORef (M.Map (Int, Node, Node) Node) }

node :: Store -> Int -> Node -> Node -> IO Node
node st v lo hi
  | lo == hi = return lo
  | otherwise = do
      u <- readIORef (unique st)
      case M.lookup (v, lo, hi) u of
        Just n -> return n
        Nothing -> do
          n <- readIORef (fresh st)
          writeIORef (fresh st) $! n + 1
          modifyIORef' (unique st) (M.insert (v, lo, hi) n)
          modifyIORef' (table st) (M.insert n (v, lo, hi))
          return n

apply :: Store -> Int -> Node -> Node -> IO Node
apply st op a b
  | a < 2 && b < 2 = return (if op == 0 then a * b else (a + b) `mod` 2)
  | otherwise = do
      m <- readIORef (memo st)
      case M.lookup (op, a, b) m of
        Just n -> return n
        Nothing -> do
          (va, la, ha) <- open a
          (vb, lb, hb) <- open b
          let v = min va vb
              pick x vx l h = if vx == v then (l, h) else (x, x)
              (al, ah) = pick a va la ha
              (bl, bh) = pick b vb lb hb
          lo <- apply st op al bl
          hi <- apply st op ah bh
          n <- node st v lo hi
          modifyIORef' (memo st) (M.insert (op, a, b) n)
          return n
  where open x | x < 2 = return (maxBound, x, x)
               | otherwise = (M.! x) <$> readIORef (table st)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  st <- Store <$> newIORef 2 <*> newIORef M.empty <*> newIORef M.empty <*> newIORef M.empty
  vars <- forM [1 .. 2 * n] (\v -> node st v 0 1)
  prods <- zipWithM (apply st 0) (take n vars) (drop n vars)
  r <- foldM (apply st 1) 0 prods
  r2 <- foldM (apply st 0) 1 =<< zipWithM (apply st 1) prods (drop 1 prods ++ [r])
  total <- readIORef (fresh st)
  print (r, r2, total)
