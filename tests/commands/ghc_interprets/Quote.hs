{-# LANGUAGE TemplateHaskell #-}
-- What splices run: code that reads types, has threads and exceptions, and its own syntax.
module Quote where

import Control.Concurrent
import Control.Exception
import Language.Haskell.TH
import Language.Haskell.TH.Quote

class Named a where
  names :: a -> [String]

-- A power that is unrolled.
power :: Int -> Q Exp
power 0 = [| const 1 |]
power n = [| \x -> x * $(power (n - 1)) x |]

constructors :: Name -> Q Exp
constructors t = do
  TyConI (DataD _ _ _ _ cs _) <- reify t
  listE [stringE (nameBase c) | NormalC c _ <- cs]

-- Threads that hand their results over.
squares :: Q Exp
squares = do
  n <- runIO $ do
    results <- newEmptyMVar
    mapM_ (\k -> forkIO (putMVar results (k * k))) [1 .. 100 :: Integer]
    sum <$> mapM (const (takeMVar results)) [1 .. 100 :: Int]
  litE (integerL n)

caught :: Q Exp
caught = do
  r <- runIO (try (evaluate (1 `div` (0 :: Int))))
  stringE (either (\e -> show (e :: ArithException)) show r)

text :: QuasiQuoter
text = QuasiQuoter {quoteExp = stringE . unwords . words, quotePat = other, quoteType = other, quoteDec = other}
  where
    other _ = fail "text is for expressions"

main :: IO ()
main = do
  e <- runQ (power 3)
  putStrLn (pprint e)
