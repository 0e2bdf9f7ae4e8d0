-- The masking state that a handler runs in, and that its catch leaves: with the handler right below the raise, and with
-- frames between.
-- ghc: -O
import Control.Exception
import Control.Monad

states :: [(String, IO () -> IO ())]
states = [("unmasked", interruptibly), ("masked", mask_), ("uninterruptible", uninterruptibleMask_)]
  where interruptibly act = mask_ (interruptible act)

-- An update frame, a frame that waits for the result, or nothing lies above the handler.
raises :: [(String, IO ())]
raises =
  [ ("at once", throwIO Overflow)
  , ("in a thunk", void (evaluate (length (show (1 `div` (0 :: Int))))))
  , ("below a frame", throwIO Underflow >>= print . (+ (1 :: Int)))
  , ("by raise", evaluate (throw (ErrorCall "pure") :: Int) >>= print)
  ]

main :: IO ()
main = do
  forM_ states $ \(outer, around) -> forM_ states $ \(inner, within) -> forM_ raises $ \(how, act) -> do
    around $ do
      within act `catch` \e -> do
        s <- getMaskingState
        putStrLn (outer ++ ", " ++ inner ++ ", " ++ how ++ ": " ++ takeWhile (/= '\n') (show (e :: SomeException)) ++ " handled " ++ show s)
      getMaskingState >>= \s -> putStrLn ("  then " ++ show s)
    getMaskingState >>= \s -> putStrLn ("  at last " ++ show s)
  -- A handler that is itself a thunk, one that takes more than its exception, and one that raises again.
  forM_ [0 .. 2 :: Int] $ \n -> do
    let handlers = [\e -> putStrLn ("first " ++ show (e :: ArithException)), if n > 5 then undefined else \e -> print (n, e), throwIO]
    r <- try (throwIO DivideByZero `catch` (handlers !! n))
    print (r :: Either ArithException ())
