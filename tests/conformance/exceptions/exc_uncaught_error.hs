-- An uncaught error call: text with call stack on stderr, exit code 1, stdout flushed before.
import GHC.Stack
helper :: HasCallStack => Int -> Int
helper n = if n > 2 then error ("helper failed at " ++ show n) else n
caller :: HasCallStack => Int -> Int
caller n = helper (n + 1)
main :: IO ()
main = do
  putStr "no newline at the end"
  print (caller 2)
