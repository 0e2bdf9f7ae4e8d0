-- Files through handles: modes, buffering, seeking, size, end of file, encodings, appending.
import Control.Exception
import System.Directory
import System.IO
import System.IO.Error

main :: IO ()
main = do
  let f = "io_handles.tmp"
  writeFile f "first line\nsecond λ line\nno newline"
  readFile f >>= putStrLn
  h <- openFile f ReadMode
  hGetBuffering h >>= print
  hFileSize h >>= print
  l1 <- hGetLine h
  e1 <- hIsEOF h
  l2 <- hGetLine h
  l3 <- hGetLine h
  e2 <- hIsEOF h
  print (l1, e1, l2, l3, e2)
  r <- try (hGetLine h)
  print (either isEOFError (const False) r)
  r' <- try (hGetChar h)
  either (\e -> print (e :: IOException)) print r'
  hSeek h AbsoluteSeek 6
  hGetLine h >>= putStrLn
  hClose h
  r2 <- try (hGetLine h)
  either (\e -> print (e :: IOException)) putStrLn r2
  appendFile f "\nappended"
  s <- readFile f
  print (length (lines s))
  withFile f ReadWriteMode $ \g -> do
    hSetBuffering g NoBuffering
    hPutStr g "FIRST"
    hSeek g SeekFromEnd (-8)
    hGetContents g >>= putStrLn
  withBinaryFile f ReadMode $ \g -> do { hSeek g AbsoluteSeek 18; c <- hGetChar g; print c }
  withFile f ReadMode $ \g -> do
    hSetEncoding g latin1
    t <- hGetContents g
    print (length t)
  h3 <- openFile f WriteMode
  hSetBuffering h3 (BlockBuffering (Just 16))
  mapM_ (hPutStrLn h3 . show) [1 .. 100 :: Int]
  hFlush h3
  hTell h3 >>= print
  hClose h3
  hShow h3 >>= putStrLn
  r3 <- try (openFile "/no/such/file" ReadMode)
  either (\e -> print (e :: IOException)) (const (putStrLn "opened")) r3
  r4 <- try (withFile f ReadMode (\g -> hPutStr g "x"))
  either (\e -> print (e :: IOException)) (const (putStrLn "written")) r4
  removeFile f
  doesFileExist f >>= print
