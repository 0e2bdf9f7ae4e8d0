-- The masking state: in mask, uninterruptibleMask, handlers, forked threads, bracket's three parts and after leaving
-- them.
import Control.Concurrent
import Control.Exception

here :: String -> IO ()
here s = getMaskingState >>= \m -> putStrLn (s ++ ": " ++ show m)

main :: IO ()
main = do
  here "start"
  mask $ \restore -> do
    here "mask"
    restore (here "restored")
    here "mask again"
    uninterruptibleMask $ \r2 -> here "uninterruptible" >> r2 (here "back to masked") >> restore (here "outer restore")
    here "after uninterruptible"
    r <- try (restore (here "in try" >> throwIO (userError "x"))) :: IO (Either IOException ())
    here ("after try " ++ show r)
  here "end of mask"
  throwIO (userError "y") `catch` \e -> here ("handler of " ++ show (e :: IOException))
  here "after handler"
  mask_ (throwIO (userError "z") `catch` \e -> here ("masked handler of " ++ show (e :: IOException)))
  uninterruptibleMask_ (throwIO (userError "w") `catch` \e -> here ("uninterruptible handler of " ++ show (e :: IOException)))
  bracket (here "acquire") (\_ -> here "release") (\_ -> here "use")
  (here "body" `finally` here "finally")
  v <- newEmptyMVar
  _ <- mask_ (forkIO (here "child of masked" >> putMVar v ()))
  takeMVar v
  _ <- mask_ (forkIOWithUnmask (\u -> u (here "unmasked child") >> here "child itself" >> putMVar v ()))
  takeMVar v
  _ <- forkIO (here "child" >> putMVar v ())
  takeMVar v
  mask_ (interruptible (here "interruptible"))
  uninterruptibleMask_ (interruptible (here "interruptible in uninterruptible"))
  mask_ allowInterrupt
  here "end"
  -- A handler entered from masked code by an exception out of unmasked code has the state of the catch frame.
  mask $ \restore -> (restore (here "inner") >> throwIO (userError "q")) `catch` \e -> here (show (e :: IOException))
  here "finish"
