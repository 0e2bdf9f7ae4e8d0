-- withArgs, withProgName, lookupEnv, setEnv and getEnvironment.
-- args: real
-- env: SUITE_VARIABLE=some value
import Control.Exception
import System.Environment

main :: IO ()
main = do
  withArgs ["fake", "args"] (getArgs >>= print)
  getArgs >>= print
  withProgName "other" (getProgName >>= putStrLn)
  getEnv "SUITE_VARIABLE" >>= putStrLn
  lookupEnv "SUITE_NOT_THERE" >>= print
  setEnv "SUITE_NEW" "new"
  lookupEnv "SUITE_NEW" >>= print
  unsetEnv "SUITE_NEW"
  lookupEnv "SUITE_NEW" >>= print
  r <- try (getEnv "SUITE_NOT_THERE")
  either (\e -> print (e :: IOException)) putStrLn r
  fmap (lookup "SUITE_VARIABLE") getEnvironment >>= print
