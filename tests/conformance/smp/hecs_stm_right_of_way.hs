-- Long transactions beside short ones that overtake them: all get through, and see and leave what belongs together,
-- also where they wait, fail, or are interrupted by exceptions on their way.
-- ghc: -threaded -rtsopts -package stm
-- args: +RTS -N4 -RTS
-- timeout: 180
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad

main :: IO ()
main = do
  vars <- replicateM 400 (newTVarIO (0 :: Int))
  over <- newTVarIO False
  shorts <- newEmptyMVar
  longs <- newEmptyMVar
  let short k = do
        forM_ (take 6000 (drop k (cycle (zip vars (drop 7 vars))))) $ \(a, b) ->
          atomically (modifyTVar' a (subtract k) >> modifyTVar' b (+ k))
        putMVar shorts ()
      total = foldM (\s v -> (s +) <$> readTVar v) 0 vars
      -- Reads all, and moves something from one end to the other.
      long k seen = do
        s <- try $ atomically $ do
          s <- total
          modifyTVar' (vars !! k) (subtract 1)
          modifyTVar' (vars !! (399 - k)) (+ 1)
          -- What is done now is undone.
          (writeTVar (vars !! k) 1000000 >> retry) `orElse` return ()
          when (k == 2 && s == 0) (throwSTM (userError "nothing is left of this"))
          return s
        stop <- readTVarIO over
        let seen' = either (\e -> const seen (e :: IOException)) (: seen) s
        if stop then putMVar longs (all (== 0) seen') else long k (take 100 seen')
      interrupted = do
        t <- forkIO (void (long 3 []) `catch` \e -> const (return ()) (e :: AsyncException))
        threadDelay 3000
        killThread t
        stop <- readTVarIO over
        if stop then putMVar longs True else interrupted
  -- Waits for what never is, beside all of them.
  waiter <- forkIO (atomically (total >>= \s -> check (s /= 0)))
  forM_ [1 .. 3] (forkIO . short)
  forM_ [0 .. 2] (\k -> forkIO (long k []))
  _ <- forkIO interrupted
  replicateM_ 3 (takeMVar shorts)
  atomically (writeTVar over True)
  print =<< replicateM 4 (takeMVar longs)
  killThread waiter
  print =<< atomically total
