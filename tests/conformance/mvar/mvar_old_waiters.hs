-- Threads that wait for an MVar grow old, and then its queue changes: some are killed, some give up and wait again, and
-- young ones come, which may get the place of a dead one. Collections of young data alone follow. The longest waiter is
-- still served first.
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import GHC.Conc
import OldThreads

-- What a waiter does when it is told to give up.
data Then = Dies | WaitsAgain deriving (Eq, Show, Enum, Bounded)

waits :: ThreadId -> IO ()
waits = blockedOn (== BlockedOnMVar)

-- The numbers of the threads that still wait, first come first: of `old` ones some are told to give up, in this order;
-- young ones come before that or after.
left :: Then -> Bool -> [Int] -> [Int] -> [Int] -> [Int]
left how youngFirst old gone new = (old \\ gone) ++ if youngFirst then new ++ again else again ++ new
  where again = [g | how == WaitsAgain, g <- gone]

waiter :: Then -> IO () -> IO ThreadId
waiter how act = forkIO again
  where again = act `catch` \GiveUp -> when (how == WaitsAgain) again

-- `begin` lets all waiting threads be served, and prints the order.
rounds :: String -> ([Int] -> [Int]) -> IO (Int -> IO (), Int -> IO [Int]) -> IO ()
rounds name order new = do
  wrong <- newIORef []
  forM_ [minBound .. maxBound] $ \how -> forM_ orders $ \gone -> forM_ [0, 2] $ \more -> forM_ (False : [True | more > 0]) $ \youngFirst -> do
    (wait, serve) <- new
    ts <- forM [1, 2, 3] $ \i -> do
      t <- waiter how (wait i)
      waits t
      return t
    grow
    let late = take more [4 ..]
        join = forM late $ \i -> do
          t <- waiter how (wait i)
          waits t
          young
          return t
    early <- if youngFirst then join else return []
    forM_ gone $ \g -> throwTo (ts !! (g - 1)) GiveUp >> waits (ts !! (g - 1))
    young
    ts' <- if youngFirst then return early else join
    let expected = order (left how youngFirst [1, 2, 3] gone late)
    got <- order <$> serve (length expected)
    when (got /= expected) $ modifyIORef wrong ((how, gone, late, youngFirst, got) :)
    mapM_ waits (ts ++ ts')
  readIORef wrong >>= \w -> putStrLn (name ++ (if null w then ": in order" else ": " ++ show w))

main :: IO ()
main = do
  rounds "takers" id $ do
    box <- newEmptyMVar
    out <- newEmptyMVar
    return (\i -> takeMVar box >>= \x -> putMVar out (i, x :: Int), \n -> forM [1 .. n] $ \x -> do
      putMVar box x
      (i, x') <- takeMVar out
      return (if x == x' then i else -x'))
  rounds "putters" id $ do
    box <- newMVar 0
    return (putMVar box, \n -> takeMVar box >> replicateM n (takeMVar box))
  rounds "readers" sort $ do
    box <- newEmptyMVar
    out <- newMVar []
    return (\i -> readMVar box >>= \() -> modifyMVar_ out (return . (i :)), \n -> do
      putMVar box ()
      let all' = readMVar out >>= \is -> if length is == n then return is else yield >> all'
      all')
  -- Waiters of several kinds in one queue: the put serves the readers and the first taker.
  box <- newEmptyMVar
  out <- newMVar []
  let note x = modifyMVar_ out (return . (x :))
  ts <- forM [1 .. 3 :: Int] $ \i -> forkIO (takeMVar box >>= \x -> note (i, x)) >>= \t -> waits t >> return t
  grow
  killThread (ts !! 2)
  rs <- forM [4, 5] $ \i -> forkIO (readMVar box >>= \x -> note (i, x)) >>= \t -> waits t >> return t
  t <- forkIO (takeMVar box >>= \x -> note (6, x))
  waits t
  young
  killThread (head rs)
  killThread (head ts)
  young
  let served n = readMVar out >>= \xs -> if length xs == n then return () else yield >> served n
  putMVar box 'a' >> served 2
  putMVar box 'b' >> served 3
  readMVar out >>= print . sort
