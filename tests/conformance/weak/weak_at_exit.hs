-- C finalizers of foreign pointers still alive at exit run when the program ends; Haskell ones need not.
-- c: weak_at_exit_c.c
import Foreign
import System.IO

foreign import ccall "&note_finalized" noteFinalized :: FunPtr (Ptr Int32 -> IO ())
foreign import ccall "make_cell" makeCell :: Int32 -> IO (Ptr Int32)

main :: IO ()
main = do
  hSetBuffering stdout NoBuffering
  p <- makeCell 7
  fp <- newForeignPtr noteFinalized p
  withForeignPtr fp peek >>= print
  putStrLn "leaving main"
  touchForeignPtr fp
