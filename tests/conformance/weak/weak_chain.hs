-- Reachability through weak pointers: a key that only another live weak's value refers to stays alive; cycles of them
-- die.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Monad
import Data.IORef
import GHC.Exts
import GHC.IO (IO (..))
import GHC.IORef (IORef (..))
import GHC.STRef (STRef (..))
import GHC.Weak (Weak (..))
import System.Mem
import System.Mem.Weak (deRefWeak)

-- The key is the mutable variable itself, which no optimization rebuilds.
weak :: IORef k -> v -> IO (Weak v)
weak (IORef (STRef k)) v = IO $ \s -> case mkWeakNoFinalizer# k v s of (# s', w #) -> (# s', Weak w #)

alive :: Weak v -> IO Bool
alive w = maybe False (const True) <$> deRefWeak w

main :: IO ()
main = do
  root <- newIORef (0 :: Int)
  refs <- replicateM 20 (newIORef (1 :: Int))
  -- root's weak value is the first reference, whose weak value is the second, and so on; made in both orders.
  let links = zip (root : refs) refs
  ws <- mapM (\(k, v) -> weak k v) (take 10 links)
  vs <- reverse <$> mapM (\(k, v) -> weak k v) (reverse (drop 10 links))
  performMinorGC
  performMajorGC
  states <- mapM alive (ws ++ vs)
  print (and states)
  end <- deRefWeak (last vs)
  maybe (putStrLn "lost") (\r -> readIORef r >>= print) end
  readIORef root >>= print
  performMajorGC
  states2 <- mapM alive (ws ++ vs)
  print (or states2)
  -- Two keys whose values are each other.
  a <- newIORef 'a'
  b <- newIORef 'b'
  wa <- weak a b
  wb <- weak b a
  performMajorGC
  s1 <- mapM (\w -> alive w) [wa, wb]
  readIORef a >>= print
  performMajorGC
  s2 <- mapM (\w -> alive w) [wa, wb]
  print (s1, s2)
