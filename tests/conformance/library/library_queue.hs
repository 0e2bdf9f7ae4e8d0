-- The queue of timeouts against a plain ordered map under random operations, and stacks that several threads push on.
-- ghc: -O -threaded -i../../../library/src
-- needs: hecaton containers
import Control.Concurrent
import Control.Monad
import Data.Bits
import Data.List (foldl', sort)
import qualified Data.Map.Strict as Map
import Hecaton.Event.Atomic
import Hecaton.Event.TimeoutQueue

-- | Deadlines and keys, in the order in which they are due.
type Model = Map.Map (Int, Int) ()

data Pair = Pair Int TimeoutQueue Model

edits :: Model -> Edit -> Model
edits model change = case change of
  Insert due -> Map.insert (dueTime due, dueKey due) () (without (dueKey due))
  Move key time
    | Map.size (without key) < Map.size model -> Map.insert (time, key) () (without key)
    | otherwise -> model
  Delete key -> without key
  where
    without key = Map.filterWithKey (\(_, k) () -> k /= key) model

-- | A sequence of random numbers.
next :: Int -> Int
next x = (x * 6364136223846793005 + 1442695040888963407) .&. maxBound

pick :: Int -> Int -> Int
pick seed n = (seed `shiftR` 33) `mod` n

-- | Some edits, and then what is due; says what differs.
turn :: Int -> Pair -> Int -> Either String Pair
turn keys (Pair seed0 queue model) _ = do
  let seeds = take 8 (tail (iterate next seed0))
      changes = map change seeds
      change s = case pick (next s) 5 of
        0 -> Delete (key s)
        1 -> Move (key s) (time s)
        _ -> Insert (Due (key s) (time s) (pure ()))
      key s = let k = pick (next (next s)) keys in if odd s then k * 0x1000001 else k - 3
      time s = pick (next (next (next s))) 300
      queue' = apply changes queue
      model' = foldl' edits model changes
      now = pick (next (last seeds)) 100
      (due, rest) = takeDue now queue'
      (dueModel, restModel) = Map.spanAntitone (\(t, _) -> t <= now) model'
  when (size queue' /= Map.size model') $ Left ("size " ++ show (size queue', Map.size model'))
  when (nextDeadline queue' /= (fst . fst <$> Map.lookupMin model')) $ Left "next deadline"
  when ([(dueTime d, dueKey d) | d <- due] /= Map.keys dueModel) $ Left ("due at " ++ show now)
  when (size rest /= Map.size restModel) $ Left "what is left"
  pure (Pair (last seeds) rest restModel)

main :: IO ()
main = do
  forM_ [1, 3, 20, 200] $ \keys -> do
    let result = foldM (turn keys) (Pair keys emptyQueue Map.empty) [1 .. 2000]
    putStrLn (show keys ++ " keys: " ++ either ("differs: " ++) (const "same") result)

  stack <- newStack
  taken <- newMVar []
  overs <- forM [0 .. 3 :: Int] $ \t -> do
    over <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 5000] $ \i -> do
        push stack (t * 10000 + i :: Int)
        when (i `mod` 50 == 0) $ do
          some <- takeAll stack
          modifyMVar_ taken (pure . (some :))
          when (i `mod` 500 == 0) yield
      putMVar over ()
    pure over
  mapM_ takeMVar overs
  rest <- takeAll stack
  all' <- concat . (rest :) <$> readMVar taken
  print (sort all' == [t * 10000 + i | t <- [0 .. 3], i <- [1 .. 5000]])

  numbers <- newWords 2
  sums <- forM [1 .. 4 :: Int] $ \_ -> do
    over <- newEmptyMVar
    _ <- forkIO $ replicateM_ 10000 (add numbers 1 3) >> putMVar over ()
    pure over
  mapM_ takeMVar sums
  get numbers 1 >>= print
  swapIf numbers 0 1 2 >>= print
  swapIf numbers 0 0 2 >>= print
  get numbers 0 >>= print
