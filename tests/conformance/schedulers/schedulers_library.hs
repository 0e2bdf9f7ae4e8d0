-- The schedulers of the package: for each its order, its bounds, and that no thread is lost. Time slices are so long
-- that none ends here.
-- ghc: -O -threaded -with-rtsopts=-C60
-- needs: hecaton QuickCheck
import Control.Concurrent (threadDelay)
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.List (dropWhileEnd, elemIndex, group, groupBy, nub, sort, transpose)
import Data.Maybe (fromMaybe)
import Data.Word (Word64)
import Hecaton.MVar
import Hecaton.Scheduler
import qualified Hecaton.Scheduler.Deadline as Deadline
import qualified Hecaton.Scheduler.FairShare as FairShare
import qualified Hecaton.Scheduler.Fifo as Fifo
import qualified Hecaton.Scheduler.Gang as Gang
import qualified Hecaton.Scheduler.Hierarchical as Hierarchical
import qualified Hecaton.Scheduler.Lifo as Lifo
import qualified Hecaton.Scheduler.Priority as Priority
import qualified Hecaton.Scheduler.Random as Random
import qualified Hecaton.Scheduler.RoundRobin as RoundRobin
import Hecaton.Substrate
import LibrarySchedulers
import OnSubstrate
import System.IO.Unsafe (unsafePerformIO)
import System.Timeout (timeout)
import Test.QuickCheck
import Test.QuickCheck.Random (mkQCGen)

main :: IO ()
main =
  substrateProgram
    [ expect "round robin: threads take turns" (concat (replicate 3 "abc")) inTurn
    , expect "FIFO: threads take turns" (concat (replicate 3 "abc")) (onOne Fifo.policy >>= turns)
    , expect "LIFO: the latest first" "cccbbbaaa" (onOne Lifo.policy >>= turns)
    , law "priority: the greatest first" 30 greatestFirst
    , law "priority: aging bounds the wait" 30 aging
    , law "priority: the holder of a lock inherits, along chains" 10 alongChains
    , expect "priority: and gives back what was lent with the lock" ["low", "high", "middle", "low again"] lentForAWhile
    , expect "priority: the next holder inherits from those that wait on" ["low", "next", "high", "middle"] nextHolder
    , expect "priority: who evaluates what another thread needs inherits" ["low", "high", "middle"] evaluator
    , expect "priority: and the holder of a lock that it needs" ["lowest", "low", "high", "middle"] lockOfEvaluator
    , expect "priority: a thread that wakes preempts one that computes" True preempting
    , law "deadline: the earliest first" 30 earliestFirst
    , law "random: a seed has one order" 20 sameForASeed
    , expect "random: seeds have different orders" True seedsDiffer
    , expect "fair share: times are in proportion to shares" [] fairTimes
    , expect "fair share: a thread that waited does not catch up" [] noCatchingUp
    , law "hierarchical: turns are in proportion to shares" 20 turnsByShare
    , expect "hierarchical: parents below parents" True nestedParents
    , expect "hierarchical: each child has its own order" ("abcabcabc", "cccbbbaaa") childrenOrders
    , expect "gang: it waits until there are HECs for all" (0 :: Int, True) waitingGang
    , expect "gang: it takes them from threads that compute" True callingGang
    , expect "gang: also if other threads wait there" True crowdedGang
    , expect "gang: a turn ends for all" True endingGang
    , law "gang: threads that wait for each other, computing, end" 10 gangsTogether
    , law "no thread is lost" 30 noneLost
    , expect "threads of a scheduler run on all HECs at once" [] atOnce
    , expect "threads of threads" [] (forAll' tree)
    , expect "an exception ends a thread alone" [] (forAll' exceptional)
    , expect "a thread in another scheduler, and back" [] (forAll' visiting)
    , expect "also by an exception" [] (forAll' thrownBack)
    , expect "main in a scheduler" [] (forAll' mainInside)
    , expect "a thread migrates to the built-in scheduler" [] (forAll' toBuiltIn)
    , expect "masking is inherited" [] (forAll' maskingInherited)
    , expect "a scheduler of one's own" "cccbbbaaa" (ownScheduler >>= turns)
    ]

law :: Testable p => String -> Int -> p -> Check
law name runs property' = expect name "holds" $ do
  answer <- quickCheckWithResult args property'
  return (if isSuccess answer then "holds" else output answer)
  where
    args = stdArgs {replay = Just (mkQCGen 14, 0), maxSuccess = runs, maxSize = 12, chatty = False}

-- Each HEC has a queue. So where the only one that may run them changes, threads take turns on each.
inTurn :: IO String
inTurn = do
  found <- onOne RoundRobin.policy >>= turns
  several <- (> 1) <$> getNumHECs
  return (if several then concat (transpose (group (sort found))) else found)

-- Each thread says its number when it first runs.
greatestFirst :: [Int] -> Property
greatestFirst priorities = ioProperty $ do
  s <- onOne (Priority.policy 1000000)
  texts <- said s maxBound [(p, \say -> say (show p)) | p <- priorities]
  return (texts === map show (reverse (sort priorities)))

-- One thread of low priority beside others that never wait.
aging :: Property
aging = forAll settings $ \(choices, ahead, others) -> ioProperty $ do
  s <- onOne (Priority.policy choices)
  let turnsAhead = choices * ahead + others
      repeated say = replicateM_ (2 * turnsAhead) (say "high" >> yield)
  texts <- said s maxBound ((0, \say -> say "low") : replicate others (ahead, repeated))
  let place = fromMaybe maxBound (elemIndex "low" texts)
  return (counterexample (show place) (place <= turnsAhead && place >= choices * ahead - others))
  where
    settings = (,,) <$> choose (1, 20) <*> choose (1, 8) <*> choose (1, 4)

-- A scheduler on one HEC without aging. A thread of priority 100 makes the others.
underPriority :: (Scheduler Int -> (String -> IO ()) -> IO ()) -> Int -> IO [String]
underPriority start count = do
  s <- onOne (Priority.policy 1000000)
  texts <- newTVarIO []
  _ <- forkInAs s 100 (start s (\text -> atomically (modifyTVar' texts (text :))))
  atomically (readTVar texts >>= check . (== count) . length)
  reverse <$> readTVarIO texts

-- Each thread holds a lock, and waits for that of the thread before it. One of high priority waits for the last lock.
-- So all run before one in between, which can run from the start.
alongChains :: Property
alongChains = forAll (choose (0, 5)) $ \final -> ioProperty $ do
  texts <- flip underPriority (final + 3) $ \s say -> do
    locks <- replicateM (final + 1) (newMVar ())
    begun <- newEmptyMVar
    forM_ [0 .. final] $ \i -> do
      let inside = say (show i)
          waiting = if i == 0 then inside else withMVar (locks !! (i - 1)) (const inside)
      _ <- forkInAs s (i + 1) (withMVar (locks !! i) (const (putMVar begun () >> waiting)))
      takeMVar begun
    _ <- forkInAs s 50 (say "middle")
    void (forkInAs s 90 (withMVar (locks !! final) (const (say "high"))))
  return (texts === map show [0 .. final] ++ ["high", "middle"])

lentForAWhile :: IO [String]
lentForAWhile = flip underPriority 4 $ \s say -> do
  lock <- newMVar ()
  begun <- newEmptyMVar
  _ <- forkInAs s 1 (withMVar lock (const (putMVar begun () >> say "low")) >> yield >> say "low again")
  takeMVar begun
  _ <- forkInAs s 50 (say "middle")
  void (forkInAs s 90 (modifyMVar_ lock (const (say "high"))))

-- The other threads come to wait while the one that makes them sleeps. On a busy machine that may be too short.
nextHolder :: IO [String]
nextHolder = untilIn 50 (== ["low", "next", "high", "middle"]) $ flip underPriority 4 $ \s say -> do
  lock <- newMVar ()
  gate <- newEmptyMVar
  let others = threadDelay 5000
  _ <- forkInAs s 1 (withMVar lock (const (takeMVar gate >> say "low")))
  others
  _ <- forkInAs s 2 (modifyMVar_ lock (const (say "next")))
  others
  _ <- forkInAs s 90 (takeMVar lock >> say "high")
  others
  putMVar gate ()
  void (forkInAs s 50 (say "middle"))

-- A thread evaluates a thunk, and waits in the middle of that. Another one needs the thunk.
evaluator :: IO [String]
evaluator = untilIn 50 (== ["low", "high", "middle"]) $ flip underPriority 3 $ \s say -> do
  gate <- newEmptyMVar
  needing s say 1 (takeMVar gate)
  putMVar gate ()

lockOfEvaluator :: IO [String]
lockOfEvaluator = untilIn 50 (== ["lowest", "low", "high", "middle"]) $ flip underPriority 4 $ \s say -> do
  gate <- newEmptyMVar
  lock <- newMVar ()
  _ <- forkInAs s 1 (withMVar lock (const (takeMVar gate >> say "lowest")))
  threadDelay 5000
  needing s say 2 (takeMVar lock)
  putMVar gate ()

-- A thread of this priority evaluates what another one needs, after it has waited. The one that makes them sleeps until
-- they wait.
needing :: Scheduler Int -> (String -> IO ()) -> Int -> IO () -> IO ()
needing s say low wait = do
  let shared = unsafePerformIO (wait >> say "low")
  _ <- forkInAs s low (evaluate shared)
  threadDelay 5000
  _ <- forkInAs s 90 (evaluate shared >> say "high")
  threadDelay 5000
  void (forkInAs s 50 (say "middle"))

-- Threads compute on all HECs until one of a higher priority has had some delays. No time slice ends.
preempting :: IO Bool
preempting = do
  n <- getNumHECs
  s <- Priority.new
  over <- newTVarIO False
  left <- newTVarIO n
  replicateM_ n (forkIn s (spinUntil (readTVar over) >> atomically (modifyTVar' left (subtract 1))))
  _ <- forkInAs s 1 (replicateM_ 5 (threadDelay 2000) >> atomically (writeTVar over True))
  met <- timeout 30000000 (ended left)
  atomically (writeTVar over True)
  return (met == Just ())

earliestFirst :: [Word64] -> Property
earliestFirst deadlines = ioProperty $ do
  s <- onOne Deadline.policy
  texts <- said s 0 [(d, \say -> say (show d)) | d <- deadlines]
  return (texts === map show (sort deadlines))

sameForASeed :: Word64 -> Property
sameForASeed seed = ioProperty $ do
  one <- onOne (Random.policy seed) >>= turns
  other <- onOne (Random.policy seed) >>= turns
  return (one === other .&&. sort one === "aaabbbccc")

seedsDiffer :: IO Bool
seedsDiffer = do
  found <- forM [1 .. 20] (\seed -> onOne (Random.policy seed) >>= turns)
  return (length (nub found) > 15)

-- Threads with shares 1 to 4 compute for a while. Their times divided by their shares differ by two turns at most. The
-- turns themselves may be long on a busy machine, so each thread measures its own.
fairTimes :: IO [String]
fairTimes = do
  s <- onOne FairShare.policy
  over <- newTVarIO False
  results <- newTVarIO []
  startedBy s 1 [(share, computing over results share) | share <- [1 .. 4]]
  found <- readTVarIO results
  let passes = [fromIntegral t / fromIntegral share | (share, t, _) <- found] :: [Double]
      longest = fromIntegral (maximum [l | (_, _, l) <- found])
  return ["passes " ++ show passes ++ ", turns to " ++ show longest | maximum passes - minimum passes > 2 * longest]

computing :: TVar Bool -> TVar [(Int, Word64, Word64)] -> Int -> IO ()
computing over results share = turn 0 0
  where
    own = atomically (ownSCont >>= runTime)
    turn begun longest = do
      now <- burn begun
      let longest' = max longest (now - begun)
      done <- readTVarIO over
      if done
        then atomically (modifyTVar' results ((share, now, longest') :))
        else do
          when (share == 4 && now > 120000000) (atomically (writeTVar over True))
          yield
          turn now longest'
    burn begun = own >>= \now -> if now - begun < 200000 then burn begun else return now

-- One thread has run for long when the other comes. From then on neither runs for more than three turns in a row.
noCatchingUp :: IO [String]
noCatchingUp = do
  s <- onOne FairShare.policy
  slices <- newTVarIO []
  left <- newTVarIO (2 :: Int)
  let repeated name = do
        replicateM_ 60 (burnFor 300000 >>= \ns -> atomically (modifyTVar' slices ((name, ns) :)) >> yield)
        atomically (modifyTVar' left (subtract 1))
  _ <- forkIn s $ do
    _ <- burnFor 20000000
    _ <- forkIn s (repeated 'b')
    repeated 'a'
  ended left
  -- When one has ended, the other goes on alone.
  both <- dropWhileEnd' . reverse <$> readTVarIO slices
  let inARow = maximum [sum (map snd g) | g <- groupBy (\x y -> fst x == fst y) both]
      longest = maximum (map snd both)
  return [show both | inARow > 3 * longest]
  where
    dropWhileEnd' found = let final = fst (last found) in dropWhileEnd ((== final) . fst) found

-- The thread computes until it has run for at least this many nanoseconds more, and returns the number.
burnFor :: Word64 -> IO Word64
burnFor ns = own >>= \begun -> burning begun
  where
    own = atomically (ownSCont >>= runTime)
    burning begun = own >>= \now -> if now - begun >= ns then return (now - begun) else burning begun

-- Children with shares, one thread each. In the first turns each has its part, within one turn.
turnsByShare :: Property
turnsByShare = forAll (resize 4 (listOf1 (choose (1, 5)))) $ \shares -> ioProperty $ do
  parent <- Hierarchical.newOn 1
  children <- forM shares $ \share -> Hierarchical.child parent share Fifo.policy
  texts <- newTVarIO []
  left <- newTVarIO (length shares)
  starter <- Hierarchical.child parent 1 Fifo.policy
  let rounds = 10 * sum shares
      body i = do
        replicateM_ rounds (atomically (modifyTVar' texts (i :)) >> yield)
        atomically (modifyTVar' left (subtract 1))
  _ <- forkIn starter $ forM_ (zip [0 :: Int ..] children) $ \(i, child) -> forkIn child (body i)
  ended left
  first <- take rounds . reverse <$> readTVarIO texts
  let counts = [length (filter (== i) first) | i <- [0 .. length shares - 1]]
  return (counterexample (show counts) (and [abs (c - 10 * share) <= 2 | (c, share) <- zip counts shares]))

nestedParents :: IO Bool
nestedParents = do
  parent <- Hierarchical.newOn 1
  top <- Hierarchical.child parent 1 Fifo.policy
  below <- Hierarchical.childParent parent 1
  children <- replicateM 2 (Hierarchical.child below 1 Lifo.policy)
  texts <- newTVarIO ""
  left <- newTVarIO (3 :: Int)
  let body name = do
        replicateM_ 30 (atomically (modifyTVar' texts (name :)) >> yield)
        atomically (modifyTVar' left (subtract 1))
  _ <- forkIn top $ zipWithM_ (\s name -> forkIn s (body name)) (top : children) "abc"
  ended left
  first <- take 16 . reverse <$> readTVarIO texts
  let turnsOf name = length (filter (== name) first)
  return (abs (turnsOf 'a' - 8) <= 1 && abs (turnsOf 'b' - turnsOf 'c') <= 1)

childrenOrders :: IO (String, String)
childrenOrders = do
  parent <- Hierarchical.newOn 1
  fifo <- Hierarchical.child parent 1 Fifo.policy
  lifo <- Hierarchical.child parent 2 Lifo.policy
  (,) <$> turns fifo <*> turns lifo

-- The thread computes, without giving up its HEC, until the condition holds.
spinUntil :: STM Bool -> IO ()
spinUntil condition = atomically condition >>= \holds -> unless holds (spinUntil condition)

-- Meets with this number of threads, again and again, as in a barrier, but gives up no HEC.
meetings :: Int -> TVar Int -> Int -> IO ()
meetings size arrived times = forM_ [1 .. times] $ \n -> do
  atomically (modifyTVar' arrived (+ 1))
  spinUntil ((>= n * size) <$> readTVar arrived)

-- Computes until the condition holds, for 10 seconds at most. Did it hold?
spinInTime :: STM Bool -> IO Bool
spinInTime condition = atomically clock >>= \begun -> go (begun + 10000000000)
  where
    go end = do
      (holds, now) <- atomically ((,) <$> condition <*> clock)
      if holds || now > end then return holds else go end

-- Starts threads, and waits for this number of reports by them. Until then main does nothing else: its HEC may have a
-- thread that computes, whose time slice does not end.
reports :: Int -> ((a -> IO ()) -> IO ()) -> IO [a]
reports count start = do
  found <- newTVarIO []
  start (\report -> atomically (modifyTVar' found (report :)))
  atomically (readTVar found >>= \all' -> all' <$ check (length all' == count))

-- A thread has one of the HECs. A gang that needs all of them has begun nothing meanwhile, and ends afterwards. Where
-- the time slice of the thread has ended before, the next attempt counts.
waitingGang :: IO (Int, Bool)
waitingGang = untilIn 50 (\(begun, over) -> begun == 0 || not over) waitingOnce

waitingOnce :: IO (Int, Bool)
waitingOnce = do
  n <- getNumHECs
  s <- Gang.new
  [begun, arrived] <- replicateM 2 (newTVarIO 0)
  left <- newTVarIO n
  before <- reports 1 $ \report -> void . forkIn s $ do
    _ <- Gang.forkGang s $ replicate n $ do
      atomically (modifyTVar' begun (+ 1))
      meetings n arrived 3
      atomically (modifyTVar' left (subtract 1))
    now <- atomically clock
    spinUntil ((> now + 1000000) <$> clock)
    readTVarIO begun >>= report
  (,) (sum before) . (== Just ()) <$> timeout 10000000 (ended left)

-- Threads of another scheduler compute on all HECs but one until the gang has met. The last one of them makes it.
callingGang :: IO Bool
callingGang = do
  n <- getNumHECs
  other <- Fifo.policy >>= newSchedulerOn (max 1 (n - 1))
  s <- Gang.new
  let size = min 2 n
  [runs, left, arrived] <- mapM newTVarIO [0, size, 0]
  and <$> reports (size + n - 1) (\report -> do
    let gang = void (Gang.forkGang s (replicate size member))
        member = meetings size arrived 3 >> atomically (modifyTVar' left (subtract 1)) >> report True
        computing' = do
          found <- atomically (modifyTVar' runs (+ 1) >> readTVar runs)
          when (found == n - 1) gang
          spinInTime ((== 0) <$> readTVar left) >>= report
    if n == 1 then gang else replicateM_ (n - 1) (forkIn other computing'))

-- On each HEC threads of another scheduler compute until a gang has met. Only on the last one they yield, so the gang
-- begins there, and takes the other HECs although threads wait for those, too.
crowdedGang :: IO Bool
crowdedGang = do
  n <- getNumHECs
  other <- Fifo.new
  s <- Gang.new
  [runs, left, arrived, last'] <- mapM newTVarIO [0, n, 0, -1]
  and <$> reports (3 * n) (\report -> do
    let member = meetings n arrived 3 >> atomically (modifyTVar' left (subtract 1)) >> report True
        met = (== 0) <$> readTVar left
        isLast = (==) <$> getCurrentHEC <*> readTVar last'
        computing' = do
          found <- atomically (modifyTVar' runs (+ 1) >> readTVar runs)
          when (found == n) $ do
            atomically (getCurrentHEC >>= writeTVar last')
            void (Gang.forkGang s (replicate n member))
          wait
        wait = do
          goesOn <- spinInTime ((||) <$> isLast <*> met)
          over <- atomically met
          if goesOn && not over then yield >> wait else report goesOn
    replicateM_ (2 * n) (forkIn other computing'))

-- One thread of a gang yields, and the others compute, until a thread that waits for its turn has had it.
endingGang :: IO Bool
endingGang = do
  n <- getNumHECs
  s <- Gang.new
  over <- newTVarIO False
  runs <- newTVarIO 0
  let yielding = readTVarIO over >>= \is -> unless is (yield >> yielding)
      member body = atomically (modifyTVar' runs (+ 1)) >> body
      first = do
        spinUntil ((== n) <$> readTVar runs)
        _ <- forkIn s (atomically (writeTVar over True))
        yielding
  and <$> reports n (\report -> do
    let other = spinInTime (readTVar over) >>= \had -> atomically (writeTVar over True) >> report had
    void (Gang.forkGang s (member (first >> report True) : replicate (n - 1) (member other))))

-- Gangs of any sizes. Those with more threads than HECs give up their HECs when they wait for the rest.
gangsTogether :: Property
gangsTogether = forAll (resize 4 (listOf1 (choose (1, 6)))) $ \sizes -> ioProperty $ do
  n <- getNumHECs
  s <- Gang.new
  left <- newTVarIO (sum sizes)
  forM_ sizes $ \size -> do
    arrived <- newTVarIO 0
    Gang.forkGang s $ replicate size $ do
      if size <= n then meetings size arrived 3 else replicateM_ 3 yield
      atomically (modifyTVar' left (subtract 1))
  met <- timeout 20000000 (ended left)
  return (met === Just ())

-- What a thread does.
data Step = Yield | Fork [Step] | MoveTo Int | Visit Int [Step]
  deriving (Show)

instance Arbitrary Step where
  arbitrary = sized $ \n -> frequency $
    [(4, pure Yield), (2, MoveTo <$> choose (0, 21))]
      ++ [(2, Fork <$> resize (n `div` 2) arbitrary) | n > 0]
      ++ [(1, Visit <$> choose (0, 21) <*> resize (n `div` 2) arbitrary) | n > 0]
  shrink step = case step of
    Fork steps -> Yield : map Fork (shrink steps)
    Visit i steps -> Yield : map (Visit i) (shrink steps)
    MoveTo i -> Yield : map MoveTo (shrink i)
    Yield -> []

-- All threads of a program that forks, and moves among all schedulers, end.
noneLost :: [[Step]] -> Property
noneLost program = ioProperty $ do
  all' <- concat <$> sequence [everyScheduler, onAllHECs, return [Any "built-in" builtin]]
  left <- newTVarIO (length program)
  let begin i steps = case all' !! (i `mod` length all') of
        Any _ s -> forkIn s ((mapM_ step steps >> migrate s) `finally` atomically (modifyTVar' left (subtract 1)))
      step todo = case todo of
        Yield -> yield
        Fork steps -> atomically (modifyTVar' left (+ 1)) >> void (begin (length steps) steps)
        MoveTo i -> case all' !! i of Any _ s -> migrate s
        Visit i steps -> case all' !! i of Any _ s -> withScheduler s (mapM_ step steps)
  zipWithM_ begin [0 ..] program
  ended left
  return True

-- As many threads as there are HECs wait for each other, each without giving up its HEC. One thread of the scheduler
-- makes them all, so the HECs that have no thread must take theirs.
atOnce :: IO [String]
atOnce = do
  n <- getNumHECs
  all' <- onAllHECs
  concat <$> forM all' (\(Any name s) -> do
    begun <- newTVarIO 0
    left <- newTVarIO n
    let meet = meetings n begun 1 >> atomically (modifyTVar' left (subtract 1))
    _ <- forkIn s (replicateM_ n (forkIn s meet))
    met <- timeout 10000000 (ended left)
    return [name | met /= Just ()])

-- Each thread makes two, down to a depth, and adds its number.
tree :: Scheduler a -> IO Bool
tree s = do
  added <- newTVarIO (0 :: Int)
  left <- newTVarIO (64 :: Int)
  let grow level number
        | level == (0 :: Int) = atomically (modifyTVar' added (+ number) >> modifyTVar' left (subtract 1))
        | otherwise = do
            _ <- forkIn s (grow (level - 1) (2 * number))
            yield
            void (forkIn s (grow (level - 1) (2 * number - 1)))
  _ <- forkIn s (grow 6 1)
  ended left
  (== sum [1 .. 64]) <$> readTVarIO added

exceptional :: Scheduler a -> IO Bool
exceptional s = do
  before <- turns s
  threads s [yield >> throwIO ThreadKilled, throwIO ThreadKilled, yield]
  after <- turns s
  return (sort before == sort after)

visiting :: Scheduler a -> IO Bool
visiting s = do
  other <- onOne Fifo.policy
  result <- newTVarIO Nothing
  _ <- forkIn other $ do
    x <- withScheduler s (yield >> return 'x')
    yield
    atomically (writeTVar result (Just x))
  x <- atomically (readTVar result >>= maybe retry return)
  order <- turns other
  return (x == 'x' && order == concat (replicate 3 "abc"))

-- The thread keeps the other scheduler waiting, which it has come from, and not this one.
thrownBack :: Scheduler a -> IO Bool
thrownBack s = do
  other <- onOne Fifo.policy
  result <- newTVarIO Nothing
  gate <- newTVarIO False
  _ <- forkIn other $ do
    r <- try (withScheduler s (yield >> throwIO (ErrorCall "inside")))
    atomically (writeTVar result (Just (either (\(ErrorCall e) -> e) id r)))
    atomically (readTVar gate >>= check)
  text <- atomically (readTVar result >>= maybe retry return)
  order <- timeout 2000000 (turns s)
  atomically (writeTVar gate True)
  orderThere <- turns other
  return (text == "inside" && fmap sort order == Just "aaabbbccc" && orderThere == concat (replicate 3 "abc"))

-- It waits for a thread that comes before it in no order: so it gives up its HEC until that one has run.
mainInside :: Scheduler a -> IO Bool
mainInside s = do
  done <- newEmptyMVar
  r <- withScheduler s $ do
    _ <- forkIn s (putMVar done 'd')
    takeMVar done
  order <- turns s
  return (r == 'd' && sort order == "aaabbbccc")

toBuiltIn :: Scheduler a -> IO Bool
toBuiltIn s = do
  steps <- newTVarIO ""
  let say c = atomically (modifyTVar' steps (++ [c]))
  done <- newTVarIO (1 :: Int)
  _ <- forkIn s $ do
    say 'a'
    migrate builtin
    say 'b'
    -- The scheduler goes on without it.
    seen <- newTVarIO False
    _ <- forkIn s (atomically (writeTVar seen True))
    atomically (readTVar seen >>= check)
    yield
    say 'c'
    migrate s
    say 'd'
    atomically (writeTVar done 0)
  ended done
  (== "abcd") <$> readTVarIO steps

maskingInherited :: Scheduler a -> IO Bool
maskingInherited s = do
  states <- newTVarIO []
  let note = getMaskingState >>= \m -> atomically (modifyTVar' states (++ [m]))
      forked = do
        left <- newTVarIO 1
        _ <- forkIn s (note >> atomically (writeTVar left 0))
        uninterruptibleMask_ (ended left)
  forked
  mask_ forked
  uninterruptibleMask_ forked
  (== [Unmasked, MaskedInterruptible, MaskedUninterruptible]) <$> readTVarIO states

-- As the documentation has it.
ownScheduler :: IO (Scheduler ())
ownScheduler = do
  stack <- newTVarIO []
  newSchedulerOn 1 Policy
    { usual = ()
    , arrive = return
    , put = \() s -> modifyTVar' stack (s :)
    , next = readTVar stack >>= \waiting -> case waiting of
        [] -> return Nothing
        s : others -> writeTVar stack others >> return (Just s)
    }
