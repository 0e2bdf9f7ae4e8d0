-- C code closes descriptors that were waited for, and their numbers are given out again: waits on the new ones wake,
-- for each direction, also while a copy of the old one is open.
-- c: events_c_close_c.c
import Control.Concurrent
import Control.Monad
import Foreign.C.Types (CInt (..))
import System.Posix.IO
import System.Posix.Types (Fd (..))
import Waits

foreign import ccall unsafe "close_behind" closeBehind :: Fd -> IO Int
foreign import ccall unsafe "close_and_reuse" closeAndReuse :: Fd -> Fd -> IO Fd

-- Waits for a byte, once or several times, so that the descriptor is registered.
use :: Int -> Fd -> Fd -> IO ()
use n r w = forM_ [1 .. n] $ \_ -> do
  v <- newEmptyMVar
  _ <- forkIO (threadWaitRead r >> fdRead r 1 >>= putMVar v)
  yield
  _ <- fdWrite w "o"
  takeMVar v

main :: IO ()
main = do
  forM_ [0 .. 3] $ \n -> do
    (r, w) <- createPipe
    use n r w
    (r2, w2) <- createPipe
    same <- closeAndReuse r r2
    print (same == r)
    -- The byte comes while a thread waits; and is there before one does.
    t <- spawn (threadWaitRead r >> fdRead r 1)
    _ <- fdWrite w2 "n"
    report "new" t
    _ <- fdWrite w2 "m"
    threadWaitRead r
    fdRead r 1 >>= print
    mapM_ closeNow [r, w, w2]
  -- Closed by C, and the number given out by the system.
  forM_ [1 .. 30 :: Int] $ \i -> do
    (r, w) <- createPipe
    use (i `mod` 3) r w
    _ <- closeBehind r
    _ <- closeBehind w
    (r2, w2) <- createPipe
    when ((r2, w2) /= (r, w)) (putStrLn "other numbers")
    t <- spawn (threadWaitRead r2 >> fst <$> fdRead r2 1)
    _ <- fdWrite w2 "a"
    s <- outcome t
    when (s /= show "a") (print (i, s))
    _ <- closeBehind r2
    closeBehind w2
  -- A writing end in the place of a reading end, and back.
  (p, q) <- createPipe
  use 2 p q
  (p2, q2) <- createPipe
  n <- fill q2
  wr <- closeAndReuse p q2
  t2 <- spawn (threadWaitWrite wr)
  let drain left = when (left > 0) (fdRead p2 (fromIntegral left) >>= \(_, m) -> drain (left - fromIntegral m))
  drain n
  report "writes" t2
  (p3, q3) <- createPipe
  rd <- closeAndReuse wr p3
  t3 <- spawn (threadWaitRead rd >> fdRead rd 1)
  _ <- fdWrite q3 "r"
  report "reads" t3
  -- A copy outlives the close: what comes for it concerns no wait on the number.
  forM_ [1, 2 :: Int] $ \k -> do
    (a, b) <- createPipe
    use k a b
    copy <- dup a
    (c, d) <- createPipe
    new <- closeAndReuse a c
    t <- spawn (threadWaitRead new >> fdRead new 1)
    _ <- fdWrite b "old"
    threadDelay 3000
    tryReadMVar (snd t) >>= print . maybe "waits" (const "goes on")
    _ <- fdWrite d "!"
    report "the new one" t
    threadWaitRead copy
    fdRead copy 10 >>= print
    mapM_ closeNow [new, copy, b, d]
  -- Both ends of a socket pair, in both directions at once.
  (s, u) <- socketPair
  reader <- spawn (threadWaitRead s)
  threadWaitWrite s
  _ <- fdWrite u "x"
  report "socket" reader
  (s2, u2) <- socketPair
  _ <- closeAndReuse s s2
  reader2 <- spawn (threadWaitRead s)
  writer2 <- spawn (threadWaitWrite s)
  report "writer" writer2
  _ <- fdWrite u2 "y"
  report "reader" reader2
