module Main (main) where
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Array
import Data.Array.Unboxed (UArray)
import qualified Data.Array.Unboxed as U
import qualified Data.ByteString.Char8 as B
import Data.IORef
import Data.List
import qualified Data.IntMap as I
import qualified Data.Map as M
import Data.Ratio
import qualified Data.Text as T
import Hecaton.Cluster
import System.Environment
import System.IO.Unsafe
import System.Mem

-- A value that is evaluated here, partly or not at all, is seen by another PE; and one that is made there is seen here.
there, back :: (Eq b, Show b) => PE -> String -> (a -> b) -> (Int -> a) -> IO ()
there pe name see make = forM_ [0, 1, 2 :: Int] $ \depth -> do
  n <- read <$> getEnv "HECATON_SEED"
  let value = make n
  case depth of
    0 -> pure ()
    1 -> void (evaluate value)
    _ -> void (evaluate (length (show (see value))))
  seen <- remoteOn pe (evaluate (let s = see value in length (show s) `seq` s)) >>= await
  unless (seen == see (make n)) $ putStrLn (name ++ " there: " ++ take 200 (show seen))
back pe name see make = forM_ [0, 1, 2 :: Int] $ \depth -> do
  n <- read <$> getEnv "HECATON_SEED"
  value <- await =<< remoteOn pe (do
    let value = make n
    case depth of
      0 -> pure value
      1 -> evaluate value
      _ -> evaluate (length (show (see value))) >> pure value)
  performGC
  unless (see value == see (make n)) $ putStrLn (name ++ " back: " ++ take 200 (show (see value)))
  -- And there again.
  seen <- remoteOn pe (evaluate (let s = see value in length (show s) `seq` s)) >>= await
  unless (seen == see (make n)) $ putStrLn (name ++ " back and there: " ++ take 200 (show seen))

data T a = Leaf | Node (T a) a (T a) deriving (Eq, Show)
data S = S {-# UNPACK #-} !Int !Double [Int] | A | C | D | E | F | G | H Int | J deriving (Eq, Show)

tree :: Int -> Int -> T Int
tree a b | a > b = Leaf
         | otherwise = let m = (a + b) `div` 2 in Node (tree a (m - 1)) m (tree (m + 1) b)

adders :: Int -> [Int -> Int -> Int]
adders n = [ \x y -> let z = x * k in z + m + y + k | k <- [1 .. n], let m = k * k + n ]
{-# NOINLINE adders #-}

-- A chain of thunks, each of which needs the one before.
chain :: Int -> Integer
chain n = foldl (\a k -> a + fromIntegral k) 0 [1 .. n]
{-# NOINLINE chain #-}

class Shape s where { area :: s -> Double; name :: s -> String }
newtype Square = Square Double
newtype Circle = Circle Double
instance Shape Square where { area (Square a) = a * a; name _ = "square" }
instance Shape Circle where { area (Circle r) = 3 * r * r; name _ = "circle" }
data Any = forall s. Shape s => Any s

values :: PE -> IO ()
values pe = do
  check "list" id (\n -> [n .. 3000 * n])
  check "infinite" (take 3000) (\n -> [n ..])
  check "primes" (take 200) (\n -> sieve [n + 1 ..])
  check "knot" (take 1000) (\n -> let xs = n : map (+ 1) xs in xs)
  check "cycle" (take 1000) (\n -> let xs = n : 2 : xs in xs)
  check "strings" concat (\n -> map show [n .. 2000])
  check "tree" id (\n -> tree n 5000)
  check "map" M.toList (\n -> M.fromList [(show k, [k .. k + 3]) | k <- [n .. 1000]])
  check "lazy map" M.elems (\n -> M.fromList [(k, let q = k * n in sum [q .. q + 10]) | k <- [1 .. 300]])
  check "intmap" (I.lookup 77) (\n -> I.fromList [(k, replicate 3 k) | k <- [n .. 500]])
  check "integer" id (\n -> [2 ^ (300 * n) `div` 7, negate (3 ^ (200 * n)), fromIntegral n])
  check "ratio" id (\n -> sum [1 % k | k <- [1 .. 50 * toInteger n]])
  check "text" id (\n -> map (T.pack . show) [n .. 300])
  check "bytes" (map B.unpack) (\n -> map (B.pack . show) [n .. 300])
  check "long bytes" B.unpack (\n -> B.pack (take (20000 * n) (cycle "abcdefghijklm")))
  check "records" id (\n -> [S n 2.5 [n], A, C, D, E, F, G, H n, J])
  check "array" elems (\n -> listArray (0, 5999) (map (* n) [0 .. 5999]))
  check "lazy array" (! 500) triangle
  check "unboxed" U.elems (\n -> U.listArray (0, 4000) [n ..] :: UArray Int Int)
  check "functions" (map (\f -> f 3 4)) (\n -> adders (50 + n))
  check "composition" ($ 7) (\n -> foldr (\k f -> f . (+ k)) id [n .. 3000])
  check "dictionaries" (map (\(Any s) -> (name s, area s))) (\n -> [Any (Square 2), Any (Circle (fromIntegral n))])
  check "chain" id (\n -> chain (100000 * n))
  check "sums" (sum . map fst) (\n -> zip [n .. 20000] (repeat 'x'))
  where
    sieve (p : ps) = p : sieve [q | q <- ps, q `mod` p /= 0]
    sieve [] = []
    triangle n = let a = listArray (0, 500) (n : [a ! (k - 1) + k | k <- [1 .. 500]]) in a :: Array Int Int
    check :: (Eq b, Show b) => String -> (a -> b) -> (Int -> a) -> IO ()
    check name see make = there pe name see make >> back pe name see make

exceptions :: PE -> IO ()
exceptions pe = do
  -- One that the action raises, one in its result, one in data that is fetched.
  r <- try (remoteOn pe (evaluate (1 `div` (0 :: Int))) >>= await)
  print (r :: Either ArithException Int)
  xs <- remoteOn pe (pure [1, 2, error "boom", 4 :: Int]) >>= await
  print (length xs)
  r <- try (evaluate (sum xs))
  putStrLn (either (\(ErrorCall text) -> text) show r)
  -- The same one again: it is the value now.
  r <- try (evaluate (sum xs))
  putStrLn (either (\(ErrorCall text) -> text) show r)
  let ys = [1, 2, throw Overflow, 4 :: Int]
  r <- try (remoteOn pe (evaluate (sum ys)) >>= await)
  print (r :: Either ArithException Int)
  -- Cancelled, before it has begun to wait or after.
  forM_ [0, 1000, 30000] $ \delay -> do
    future <- remoteOn pe (threadDelay 60000000)
    threadDelay delay
    cancel future
    r <- try (await future)
    print (r :: Either AsyncException ())
    poll future >>= putStrLn . maybe "nothing" (either show show)
  -- A handler of the action's own.
  future <- remoteOn pe (threadDelay 60000000 `catch` \e -> do
    threadDelay 1000
    throwIO (userError (show (e :: AsyncException))))
  threadDelay 30000
  cancel future
  r <- try (await future)
  print (r :: Either IOException ())
  -- One that is cancelled while it waits for data of this PE, and again while it waits for nothing.
  m <- read <$> getEnv "HECATON_SEED"
  let long = unsafePerformIO (threadDelay (2000000 * m) >> pure 'y')
      {-# NOINLINE long #-}
  future <- remoteOn pe ((evaluate long >> pure ()) `catch` \e -> case e of
    ThreadKilled -> newEmptyMVar >>= takeMVar
    _ -> throwIO e)
  threadDelay 30000
  _ <- forkIO (cancel future)
  threadDelay 30000
  performGC
  remoteOn pe performGC >>= await
  cancel future
  r <- try (await future)
  print (r :: Either AsyncException ())
  -- One that waits for remote data can be interrupted.
  n <- read <$> getEnv "HECATON_SEED"
  slow <- remoteOn pe (pure (unsafePerformIO (threadDelay (400000 * n) >> pure 'x'))) >>= await
  done <- newEmptyMVar
  reader <- forkIO ((evaluate slow >>= print) `catch` \e -> putMVar done (show (e :: AsyncException)))
  threadDelay 50000
  killThread reader
  takeMVar done >>= putStrLn
  print slow

stays :: PE -> IO ()
stays pe = do
  here <- newIORef (5 :: Int)
  r <- try (remoteOn pe (modifyIORef here (+ 1)) >>= await)
  notTransferable (r :: Either NotTransferable ())
  ref <- remoteOn pe (newIORef (7 :: Int)) >>= await
  r <- try (readIORef ref)
  notTransferable r
  r <- try (readIORef ref `catch` \e -> do putStrLn "caught"; throwIO (e :: NotTransferable))
  notTransferable r
  -- It can be used at its owner.
  remoteOn pe (readIORef ref) >>= await >>= print
  -- What is around it travels.
  (a, _, b) <- remoteOn pe (do r <- newIORef 'x'; pure (1 :: Int, r, "two")) >>= await
  print (a, b)
  -- A value that needs it is evaluated where it is, and its evaluation can be tried again.
  let value = unsafePerformIO (readIORef ref)
  forM_ [1, 2 :: Int] $ \_ -> try (evaluate value) >>= notTransferable
  r <- try (remoteOn pe (evaluate (value + 1)) >>= await)
  notTransferable (r :: Either NotTransferable Int)
  where
    notTransferable :: Show a => Either NotTransferable a -> IO ()
    notTransferable = either (const (putStrLn "not transferable")) print

places :: PE -> IO ()
places pe@(PE number) = do
  n <- numPEs
  me <- remoteOn pe myPE >>= await
  print (me == pe)
  print (on pe (sum [1 .. 1000 :: Int]))
  print (sum [on (PE (k `mod` n)) (product [1 .. toInteger k]) | k <- [1 .. 60 :: Int]] `mod` 1000007)
  r <- try (evaluate (on (PE n) 'x'))
  putStrLn (either (\e -> show (e :: IOException)) show r)
  r <- try (remoteOn (PE (-1)) (pure ()))
  putStrLn (either (\e -> show (e :: IOException)) (const "?") r)
  -- Many at once, each of which calls back.
  home <- myPE
  futures <- forM [1 .. 50 :: Int] $ \k ->
    remoteOn pe (remoteOn home (pure (k * k)) >>= await >>= \s -> pure (s + number))
  sums <- mapM await futures
  print (sum sums - 50 * number)

main :: IO ()
main = do
  n <- numPEs
  forM_ (map PE (if n == 1 then [0] else [1 .. n - 1])) $ \pe -> do
    values pe
    exceptions pe
    places pe
    when (n > 1) (stays pe)
