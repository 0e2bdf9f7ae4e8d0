-- An uncaught exception of one's own type is shown with displayException's default.
import Control.Exception
data Trouble = Trouble { code :: Int, why :: String } deriving Show
instance Exception Trouble where displayException t = "displayed " ++ why t
main :: IO ()
main = throwIO (Trouble 7 "bad λ day")
