-- Runs a statement by the GHC API.
import Control.Monad.IO.Class
import GHC
import GHC.Driver.Session
import System.Environment

main :: IO ()
main = do
  [libdir] <- getArgs
  runGhc (Just libdir) $ do
    flags <- getSessionDynFlags
    _ <- setSessionDynFlags (flags {hscTarget = HscInterpreted, ghcLink = LinkInMemory} ARGUMENT)
    setContext [IIDecl (simpleImportDecl (mkModuleName "Prelude"))]
    _ <- execStmt "let x = sum [1 .. 10]" execOptions
    liftIO (putStrLn "done")
