-- The program runs itself in many fatal ways: exit codes and messages as a parent process sees them.
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Environment
import System.Exit
import System.IO
import System.Posix.Signals
import System.Process

ways :: [(String, [String], IO ())]
ways =
  [ ("return", [], return ())
  , ("error", [], error "message")
  , ("exit 7", [], exitWith (ExitFailure 7))
  , ("overflow", ["-K200k"], print (foldr (+) 0 [1 .. 1000000 :: Int]))
  , ("heap", ["-M8m"], let xs = [1 .. 10000000 :: Int] in print (sum xs) >> print (length xs))
  , ("interrupt", [], raiseSignal sigINT >> threadDelay 100000000)
  , ("terminate", [], raiseSignal sigTERM >> threadDelay 100000000)
  , ("thread killed", [], myThreadId >>= killThread)
  , ("user interrupt", [], throwIO UserInterrupt)
  , ("deadlock", ["-I0.01"], newEmptyMVar >>= takeMVar)
  , ("loop", ["-I0.01"], let x = x + 1 :: Int in print x)
  , ("broken pipe", [], hPutStrLn stderr "to stderr" >> throwIO (userError "after"))
  , ("exit in finalizer", [], exitWith (ExitFailure 3) `finally` exitWith (ExitFailure 4))
  ]

main :: IO ()
main = do
  args <- getArgs
  case args of
    [way] -> sequence_ [ act | (name, _, act) <- ways, name == way ]
    _ -> do
      self <- getExecutablePath
      forM_ ways $ \(name, flags, _) -> do
        (code, out, err) <- readProcessWithExitCode self ([name, "+RTS"] ++ flags ++ ["-RTS"]) ""
        let strip l = drop 2 (dropWhile (/= ':') l)
        putStrLn (name ++ ": " ++ show code ++ " " ++ show out ++ " " ++ show (map (takeWhile (/= ':') . strip) (take 1 (filter (/= "") (lines err)))))
