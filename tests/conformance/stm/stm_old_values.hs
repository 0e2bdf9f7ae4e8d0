-- Values of many old TVars, of every shape, written again and again between collections of every generation.
-- ghc: -threaded -O
-- args: +RTS -N2 -G3 -A64k -RTS
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import System.Mem

data V = V {-# UNPACK #-} !Double {-# UNPACK #-} !Int {-# UNPACK #-} !Word
  deriving (Eq, Show)

-- With a pointer beside two numbers.
data Mixed = Mixed Integer {-# UNPACK #-} !Int {-# UNPACK #-} !Int
  deriving Show

data Cell = Cell
  { number :: TVar Int
  , real :: TVar Double
  , letter :: TVar Char
  , vector :: TVar V
  , mixed :: TVar Mixed
  , list :: TVar [Int]
  , lazy :: TVar Integer
  , flag :: TVar Bool
  }

cell :: Int -> IO Cell
cell n = Cell <$> newTVarIO n <*> newTVarIO (fromIntegral n) <*> newTVarIO 'a' <*> newTVarIO (V 0 n 0) <*> newTVarIO (Mixed 0 n 1)
  <*> newTVarIO [n] <*> newTVarIO 1 <*> newTVarIO False

step :: Int -> Cell -> STM ()
step k c = do
  modifyTVar' (number c) (+ k)
  modifyTVar' (real c) (+ 0.5)
  modifyTVar' (letter c) (\l -> if l == '\1000' then 'a' else succ l)
  modifyTVar' (vector c) (\(V x n w) -> V (x + 0.25) (n - 1) (w + 3))
  modifyTVar' (mixed c) (\(Mixed i a b) -> Mixed (i + toInteger (a * b)) (a + k) (b + 1))
  modifyTVar (list c) (\l -> take 5 (k : l))
  modifyTVar (lazy c) (\x -> (x * 3 + toInteger k) `mod` 1000000007)
  modifyTVar' (flag c) not

look :: Cell -> STM (Int, Double, Char, V, Mixed, [Int], Integer, Bool)
look c = (,,,,,,,) <$> readTVar (number c) <*> readTVar (real c) <*> readTVar (letter c) <*> readTVar (vector c)
  <*> readTVar (mixed c) <*> readTVar (list c) <*> readTVar (lazy c) <*> readTVar (flag c)

main :: IO ()
main = do
  cells <- mapM cell [1000 .. 1399]
  performMajorGC
  ended <- newEmptyMVar
  -- Each has cells of its own, next to those of the other.
  let half t = [c | (i, c) <- zip [0 :: Int ..] cells, even i == even t]
  forM_ [0, 1 :: Int] $ \t -> forkIO $ do
    forM_ [1 .. 40] $ \k -> do
      forM_ (half t) $ \c -> atomically (step k c)
      when (k `mod` 8 == t) performMinorGC
      when (k `mod` 16 == t) performMajorGC
    putMVar ended ()
  replicateM_ 2 (takeMVar ended)
  seen <- mapM (atomically . look) cells
  mapM_ print (take 3 seen)
  print (sum [n | (n, _, _, _, _, _, _, _) <- seen], sum [x | (_, x, _, _, _, _, _, _) <- seen])
  print (sum [i + toInteger a | (_, _, _, _, Mixed i a _, _, _, _) <- seen])
  print (sum [sum l | (_, _, _, _, _, l, _, _) <- seen], sum [i | (_, _, _, _, _, _, i, _) <- seen])
