-- Sparks are evaluated while the thread that has made them is in a safe foreign call, by a worker that has its HEC and
-- by others.
-- ghc: -O -threaded -with-rtsopts=-N2
-- timeout: 180
-- skip-pes: its sparks count in a global variable, of which each processing element has its own
-- skip-order: it needs several HECs
-- skip-kinds: -N2 -N4; it takes HECs away, and a scheduler of the package keeps those that it has
import Control.Monad
import Data.IORef
import GHC.Conc
import System.IO.Unsafe

foreign import ccall safe "usleep" usleep :: Int -> IO Int

{-# NOINLINE done #-}
done :: IORef Int
done = unsafePerformIO (newIORef 0)

work :: Int -> Int
work n = unsafePerformIO (atomicModifyIORef' done (\d -> (d + 1, length (show (product [1 .. toInteger n])))))
{-# NOINLINE work #-}

main :: IO ()
main = forM_ [1, 2 :: Int] $ \hecs -> do
  setNumCapabilities hecs
  writeIORef done 0
  let xs = map work [hecs .. hecs + 49]
  foldr par (return ()) xs
  let wait n = do
        _ <- usleep 10000
        d <- readIORef done
        unless (d >= 50 || n == 0) (wait (n - 1))
  wait (6000 :: Int)
  readIORef done >>= print
  print (sum xs)
