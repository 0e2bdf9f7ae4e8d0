-- What cannot be compacted is refused with CompactionFailed: functions, mutable objects, pinned bytes, inside data.
import Control.Exception
import Data.IORef
import GHC.Compact
import qualified Data.ByteString as B
import Control.DeepSeq ()

attempt :: String -> a -> IO ()
attempt s x = do
  r <- try (compact x)
  putStrLn (s ++ ": " ++ either (\e -> show (e :: CompactionFailed)) (const "accepted") r)

main :: IO ()
main = do
  r <- newIORef 'x'
  attempt "list" [1 :: Int, 2, 3]
  attempt "function" (\x -> x + length (show r' ) + 1)
  attempt "function in data" (Just (+ (1 :: Int)), 'a')
  attempt "reference" r
  attempt "pinned bytes" (B.replicate 5000 1)
  e <- try (compact [1, 2, error "inside" :: Int])
  putStrLn (either (\(ErrorCall m) -> m) (const "accepted") e)
  attempt "after the failures" "still works"
  where r' = 5 :: Int
