-- Monad transformers: state, reader, writer, except, continuations and their combination over IO.
import Control.Monad.Cont
import Control.Monad.Except
import Control.Monad.Reader
import Control.Monad.RWS.Strict
import Control.Monad.State.Strict
import Control.Monad.Writer.Strict

type App = ReaderT Int (StateT [String] (ExceptT String IO))

app :: Int -> App Int
app 0 = do
  k <- ask
  lift (modify ("zero" :))
  when (k > 5) (throwError "too big")
  return k
app n = do
  lift (modify (show n :))
  r <- local (+ 1) (app (n - 1)) `catchError` \e -> liftIO (putStrLn ("caught " ++ e)) >> throwError (e ++ "!")
  return (r + n)

main :: IO ()
main = do
  runExceptT (runStateT (runReaderT (app 3) 0) []) >>= print
  runExceptT (runStateT (runReaderT (app 3) 9) []) >>= print
  print (execState (forM_ [1 .. 100000 :: Int] (\i -> modify' (+ i))) 0)
  print (runWriter (mapM (\x -> tell [x * 2] >> return (x + 1)) [1 .. 5 :: Int]))
  print (runRWS (do { e <- ask; tell [e]; modify (+ e); s <- get; tell [s]; return (e * s) }) 3 (4 :: Int))
  print (runCont (callCC (\exit -> forM_ [1 .. 10 :: Int] (\i -> when (i == 7) (exit i)) >> return 0)) (* 100))
  print (execStateT (forever (get >>= \k -> if k > (20 :: Int) then lift (Left k) else put (k + 1))) 0)
