-- A warp server and http-client in one process: requests by dozens of threads at a time over connections that are kept,
-- answers of several kilobytes, each under a timeout.
-- needs: http-client warp wai async
-- ghc: -O -threaded
-- args: 150
-- timeout: 120
{-# LANGUAGE OverloadedStrings #-}
import Control.Concurrent.Async
import Control.Monad
import qualified Data.ByteString.Lazy.Char8 as L
import Network.HTTP.Client
import Network.HTTP.Types
import Network.Wai
import Network.Wai.Handler.Warp (testWithApplication)
import System.Environment
import System.Timeout

server :: Application
server request respond = respond (responseLBS status200 [(hContentType, "text/plain")] (L.concat (replicate 100 (L.pack (show (pathInfo request))))))

main :: IO ()
main = do
  [rounds] <- map read <$> getArgs
  testWithApplication (return server) $ \port -> do
    manager <- newManager defaultManagerSettings { managerConnCount = 50 }
    sizes <- forM [1 .. rounds] $ \i -> forConcurrently [1 .. 50] $ \j -> do
      request <- parseRequest ("http://127.0.0.1:" ++ show port ++ "/page/" ++ show (i * j :: Int))
      answer <- timeout 20000000 (httpLbs request manager)
      return (maybe (-1) (L.length . responseBody) answer)
    print (sum (concat sizes))
