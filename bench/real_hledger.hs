-- hledger's library reads a journal, and makes a register and balances by month.
-- needs: hledger-lib
-- args: 8000
-- timeout: 120
{-# LANGUAGE OverloadedStrings #-}
import qualified Data.Text as T
import Data.Time.Calendar
import Hledger
import System.Environment

accounts :: [T.Text]
accounts = ["assets:bank:checking", "assets:cash", "expenses:food", "expenses:rent", "income:salary", "liabilities:card", "expenses:travel:train"]

journal :: Int -> T.Text
journal n = T.unlines (concatMap transaction [1 .. n])
  where
    transaction i =
      [ T.pack (showGregorian (addDays (toInteger (i `div` 4)) (fromGregorian 2010 1 1)) ++ " payee " ++ show (i `mod` 97) ++ "  ; note:" ++ show i)
      , "    " <> account (i * 7) <> "  $" <> T.pack (show (i * 7919 `mod` 9973) ++ "." ++ show (10 + i `mod` 89))
      , "    " <> account (i * 7 + 1 + i `mod` 5)
      , ""
      ]
    account i = accounts !! (i `mod` length accounts)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  j <- readJournal' (journal n)
  let spec = defreportspec { _rsReportOpts = defreportopts { interval_ = Months 1 } }
      balances = multiBalanceReport spec j
      lines' = T.lines (postingsReportAsText' (postingsReport defreportspec j))
      postingsReportAsText' = T.unlines . map (\(d, _, _, p, b) -> T.pack (show d) <> " " <> paccount p <> " " <> T.pack (showMixedAmount b))
  mapM_ print (take 3 (prDates balances))
  mapM_ (putStrLn . showMixedAmount . prrTotal) (take 10 (prRows balances))
  print (length lines', sum (map T.length lines'))
