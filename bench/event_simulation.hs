-- Simulation: a discrete-event queueing network on a leftist heap, in a state monad.
-- args: 700000
import Control.Monad.State.Strict
import qualified Data.IntMap.Strict as IM
import System.Environment

data H a = E | H !Int a (H a) (H a)

rank :: H a -> Int
rank E = 0
rank (H r _ _ _) = r

union :: Ord a => H a -> H a -> H a
union E h = h
union h E = h
union a@(H _ x l r) b@(H _ y l2 r2)
  | x <= y = mk x l (union r b)
  | otherwise = mk y l2 (union r2 a)
  where mk z p q | rank p >= rank q = H (rank q + 1) z p q
                 | otherwise = H (rank p + 1) z q p

data Ev = Ev { at :: !Int, station :: !Int, job :: !Int } deriving (Eq, Ord)
data Sim = Sim { queue :: H Ev, rng :: !Int, busy :: IM.IntMap Int, handled :: !Int, waited :: !Int }

rand :: Int -> State Sim Int
rand k = do
  s <- get
  let r = (rng s * 1103515245 + 12345) `mod` 2147483648
  put s { rng = r }
  return ((r `div` 1024) `mod` k)

step :: State Sim Bool
step = do
  s <- get
  case queue s of
    E -> return False
    H _ e l r -> do
      let free = IM.findWithDefault 0 (station e) (busy s)
          begin = max free (at e)
      put s { queue = union l r, handled = handled s + 1, waited = (waited s + begin - at e) `mod` 1000003 }
      service <- (+ 1) <$> rand 40
      next <- rand 25
      modify' (\t -> t { busy = IM.insert (station e) (begin + service) (busy t) })
      leave <- rand 100
      if leave < 1 then return () else modify' (\t -> t { queue = union (H 1 (Ev (begin + service) next (job e)) E E) (queue t) })
      return True

run :: Int -> State Sim ()
run 0 = return ()
run k = step >>= \more -> when more (run (k - 1))

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let start = foldr (\j h -> union (H 1 (Ev (j * 3) (j `mod` 25) j) E E) h) E [1 .. 4000]
      s = execState (run n) (Sim start 17 IM.empty 0 0)
  print (handled s, waited s, sum (IM.elems (busy s)) `mod` 1000003)
