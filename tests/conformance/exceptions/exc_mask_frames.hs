-- What a thread's masking state is after an action in another one, and what is pending then.
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Conc
import GHC.Exts
import GHC.IO (IO (..))

masked, uninterruptible, unmasked :: IO a -> IO a
masked (IO io) = IO (maskAsyncExceptions# io)
uninterruptible (IO io) = IO (maskUninterruptible# io)
unmasked (IO io) = IO (unmaskAsyncExceptions# io)

ways :: [(String, IO () -> IO ())]
ways = [("masked", masked), ("uninterruptible", uninterruptible), ("unmasked", unmasked)]

main :: IO ()
main = do
  forM_ ways $ \(outer, around) -> forM_ ways $ \(inner, within) -> around $ do
    before <- getMaskingState
    within (return ())
    after <- getMaskingState
    within (throwIO (userError "e")) `catch` \e -> const (return ()) (e :: IOException)
    caught <- getMaskingState
    putStrLn (unwords [outer, inner, show before, show after, show caught])
  forM_ [masked, uninterruptible] pending

-- An exception that waits is raised as the mask ends, before anything else.
pending :: (IO () -> IO ()) -> IO ()
pending around = do
  reached <- newIORef (0 :: Int)
  begun <- newEmptyMVar
  thrower <- newEmptyMVar
  done <- newEmptyMVar
  t <- forkIO $ do
    r <- try $ do
      around $ do
        putMVar begun ()
        takeMVar thrower >>= untilItWaits
      modifyIORef reached (+ 1)
    putMVar done (r :: Either AsyncException ())
  takeMVar begun
  forkIO (throwTo t ThreadKilled) >>= putMVar thrower
  takeMVar done >>= print
  readIORef reached >>= print
 where
  untilItWaits other = threadStatus other >>= \s -> case s of
    ThreadBlocked BlockedOnException -> return ()
    _ -> yield >> untilItWaits other
