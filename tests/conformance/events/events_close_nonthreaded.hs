-- Without OS threads, descriptors are closed under threads that wait for them, and numbers are given out again.
-- ghc: -O
-- skip-hecs: with -threaded, other exceptions are raised
import Control.Concurrent
import System.IO
import System.Posix.IO
import Waits

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  -- In both directions, one at a time, beside another that is answered.
  (r, w) <- createPipe
  (r2, w2) <- createPipe
  (a, b) <- socketPair
  _ <- fill b
  good <- spawn (threadWaitRead r2)
  reader <- spawn (threadWaitRead r)
  threadDelay 5000
  closeNow r
  report "reader" reader
  writer <- spawn (threadWaitWrite b)
  closeNow b
  report "writer" writer
  _ <- fdWrite w2 "x"
  report "good" good
  mapM_ closeNow [w, a, r2, w2]
  -- While nothing else happens: main itself waits for what the waiter does.
  (r3, w3) <- createPipe
  waiter <- spawn (threadWaitRead r3)
  sleeper <- spawn (threadDelay 1000000)
  closeNow r3
  report "waiter" waiter
  killThread (fst sleeper)
  closeNow w3
  -- The number means another pipe when the program has time to look: the wait is for that one.
  (r4, w4) <- createPipe
  moved <- spawn (threadWaitRead r4)
  threadDelay 5000
  closeNow r4
  (r5, w5) <- createPipe
  print (r5 == r4)
  threadDelay 5000
  _ <- fdWrite w5 "y"
  report "moved" moved
  mapM_ closeNow [w4, r5, w5]
