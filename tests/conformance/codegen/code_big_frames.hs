-- Frames, closures and calls with more than 64 live variables of mixed kinds: large bitmaps for stacks, functions and
-- partial applications.
-- ghc: -O0 -threaded
{-# LANGUAGE BangPatterns #-}
import Data.IORef
import System.IO.Unsafe
import System.Mem

{-# NOINLINE pause #-}
pause :: Int -> Int
pause n = unsafePerformIO (performMinorGC >> return n)

-- Everything is alive across the pause, on the stack.
{-# NOINLINE frame #-}
frame :: Int -> Int
frame x =
  let
    !v0 = (x + 0) :: Int
    v1 = (fromIntegral x * 1.5) :: Double
    v2 = (show (x * 2)) :: String
    !v3 = (x - 3) :: Int
    v4 = (x + 4) :: Int
    v5 = (fromIntegral x * 5.5) :: Double
    !v6 = (show (x * 6)) :: String
    v7 = (x - 7) :: Int
    v8 = (x + 8) :: Int
    !v9 = (fromIntegral x * 9.5) :: Double
    v10 = (show (x * 10)) :: String
    v11 = (x - 11) :: Int
    !v12 = (x + 12) :: Int
    v13 = (fromIntegral x * 13.5) :: Double
    v14 = (show (x * 14)) :: String
    !v15 = (x - 15) :: Int
    v16 = (x + 16) :: Int
    v17 = (fromIntegral x * 17.5) :: Double
    !v18 = (show (x * 18)) :: String
    v19 = (x - 19) :: Int
    v20 = (x + 20) :: Int
    !v21 = (fromIntegral x * 21.5) :: Double
    v22 = (show (x * 22)) :: String
    v23 = (x - 23) :: Int
    !v24 = (x + 24) :: Int
    v25 = (fromIntegral x * 25.5) :: Double
    v26 = (show (x * 26)) :: String
    !v27 = (x - 27) :: Int
    v28 = (x + 28) :: Int
    v29 = (fromIntegral x * 29.5) :: Double
    !v30 = (show (x * 30)) :: String
    v31 = (x - 31) :: Int
    v32 = (x + 32) :: Int
    !v33 = (fromIntegral x * 33.5) :: Double
    v34 = (show (x * 34)) :: String
    v35 = (x - 35) :: Int
    !v36 = (x + 36) :: Int
    v37 = (fromIntegral x * 37.5) :: Double
    v38 = (show (x * 38)) :: String
    !v39 = (x - 39) :: Int
    v40 = (x + 40) :: Int
    v41 = (fromIntegral x * 41.5) :: Double
    !v42 = (show (x * 42)) :: String
    v43 = (x - 43) :: Int
    v44 = (x + 44) :: Int
    !v45 = (fromIntegral x * 45.5) :: Double
    v46 = (show (x * 46)) :: String
    v47 = (x - 47) :: Int
    !v48 = (x + 48) :: Int
    v49 = (fromIntegral x * 49.5) :: Double
    v50 = (show (x * 50)) :: String
    !v51 = (x - 51) :: Int
    v52 = (x + 52) :: Int
    v53 = (fromIntegral x * 53.5) :: Double
    !v54 = (show (x * 54)) :: String
    v55 = (x - 55) :: Int
    v56 = (x + 56) :: Int
    !v57 = (fromIntegral x * 57.5) :: Double
    v58 = (show (x * 58)) :: String
    v59 = (x - 59) :: Int
    !v60 = (x + 60) :: Int
    v61 = (fromIntegral x * 61.5) :: Double
    v62 = (show (x * 62)) :: String
    !v63 = (x - 63) :: Int
    v64 = (x + 64) :: Int
    v65 = (fromIntegral x * 65.5) :: Double
    !v66 = (show (x * 66)) :: String
    v67 = (x - 67) :: Int
    v68 = (x + 68) :: Int
    !v69 = (fromIntegral x * 69.5) :: Double
    v70 = (show (x * 70)) :: String
    v71 = (x - 71) :: Int
    !v72 = (x + 72) :: Int
    v73 = (fromIntegral x * 73.5) :: Double
    v74 = (show (x * 74)) :: String
    !v75 = (x - 75) :: Int
    v76 = (x + 76) :: Int
    v77 = (fromIntegral x * 77.5) :: Double
    !v78 = (show (x * 78)) :: String
    v79 = (x - 79) :: Int
    v80 = (x + 80) :: Int
    !v81 = (fromIntegral x * 81.5) :: Double
    v82 = (show (x * 82)) :: String
    v83 = (x - 83) :: Int
    !v84 = (x + 84) :: Int
    v85 = (fromIntegral x * 85.5) :: Double
    v86 = (show (x * 86)) :: String
    !v87 = (x - 87) :: Int
    v88 = (x + 88) :: Int
    v89 = (fromIntegral x * 89.5) :: Double
  in case pause x of
    p -> p + v0 + truncate v1 + length v2 + v3 + v4 + truncate v5 + length v6 + v7 + v8 + truncate v9 + length v10 + v11 + v12 + truncate v13 + length v14 + v15 + v16 + truncate v17 + length v18 + v19 + v20 + truncate v21 + length v22 + v23 + v24 + truncate v25 + length v26 + v27 + v28 + truncate v29 + length v30 + v31 + v32 + truncate v33 + length v34 + v35 + v36 + truncate v37 + length v38 + v39 + v40 + truncate v41 + length v42 + v43 + v44 + truncate v45 + length v46 + v47 + v48 + truncate v49 + length v50 + v51 + v52 + truncate v53 + length v54 + v55 + v56 + truncate v57 + length v58 + v59 + v60 + truncate v61 + length v62 + v63 + v64 + truncate v65 + length v66 + v67 + v68 + truncate v69 + length v70 + v71 + v72 + truncate v73 + length v74 + v75 + v76 + truncate v77 + length v78 + v79 + v80 + truncate v81 + length v82 + v83 + v84 + truncate v85 + length v86 + v87 + v88 + truncate v89

-- A closure with all of them free.
{-# NOINLINE closure #-}
closure :: Int -> (Int -> Int)
closure x =
  let
    !v0 = (x + 0) :: Int
    v1 = (fromIntegral x * 1.5) :: Double
    !v2 = (show (x * 2)) :: String
    v3 = (x - 3) :: Int
    !v4 = (x + 4) :: Int
    v5 = (fromIntegral x * 5.5) :: Double
    !v6 = (show (x * 6)) :: String
    v7 = (x - 7) :: Int
    !v8 = (x + 8) :: Int
    v9 = (fromIntegral x * 9.5) :: Double
    !v10 = (show (x * 10)) :: String
    v11 = (x - 11) :: Int
    !v12 = (x + 12) :: Int
    v13 = (fromIntegral x * 13.5) :: Double
    !v14 = (show (x * 14)) :: String
    v15 = (x - 15) :: Int
    !v16 = (x + 16) :: Int
    v17 = (fromIntegral x * 17.5) :: Double
    !v18 = (show (x * 18)) :: String
    v19 = (x - 19) :: Int
    !v20 = (x + 20) :: Int
    v21 = (fromIntegral x * 21.5) :: Double
    !v22 = (show (x * 22)) :: String
    v23 = (x - 23) :: Int
    !v24 = (x + 24) :: Int
    v25 = (fromIntegral x * 25.5) :: Double
    !v26 = (show (x * 26)) :: String
    v27 = (x - 27) :: Int
    !v28 = (x + 28) :: Int
    v29 = (fromIntegral x * 29.5) :: Double
    !v30 = (show (x * 30)) :: String
    v31 = (x - 31) :: Int
    !v32 = (x + 32) :: Int
    v33 = (fromIntegral x * 33.5) :: Double
    !v34 = (show (x * 34)) :: String
    v35 = (x - 35) :: Int
    !v36 = (x + 36) :: Int
    v37 = (fromIntegral x * 37.5) :: Double
    !v38 = (show (x * 38)) :: String
    v39 = (x - 39) :: Int
    !v40 = (x + 40) :: Int
    v41 = (fromIntegral x * 41.5) :: Double
    !v42 = (show (x * 42)) :: String
    v43 = (x - 43) :: Int
    !v44 = (x + 44) :: Int
    v45 = (fromIntegral x * 45.5) :: Double
    !v46 = (show (x * 46)) :: String
    v47 = (x - 47) :: Int
    !v48 = (x + 48) :: Int
    v49 = (fromIntegral x * 49.5) :: Double
    !v50 = (show (x * 50)) :: String
    v51 = (x - 51) :: Int
    !v52 = (x + 52) :: Int
    v53 = (fromIntegral x * 53.5) :: Double
    !v54 = (show (x * 54)) :: String
    v55 = (x - 55) :: Int
    !v56 = (x + 56) :: Int
    v57 = (fromIntegral x * 57.5) :: Double
    !v58 = (show (x * 58)) :: String
    v59 = (x - 59) :: Int
    !v60 = (x + 60) :: Int
    v61 = (fromIntegral x * 61.5) :: Double
    !v62 = (show (x * 62)) :: String
    v63 = (x - 63) :: Int
    !v64 = (x + 64) :: Int
    v65 = (fromIntegral x * 65.5) :: Double
    !v66 = (show (x * 66)) :: String
    v67 = (x - 67) :: Int
    !v68 = (x + 68) :: Int
    v69 = (fromIntegral x * 69.5) :: Double
    !v70 = (show (x * 70)) :: String
    v71 = (x - 71) :: Int
    !v72 = (x + 72) :: Int
    v73 = (fromIntegral x * 73.5) :: Double
    !v74 = (show (x * 74)) :: String
    v75 = (x - 75) :: Int
    !v76 = (x + 76) :: Int
    v77 = (fromIntegral x * 77.5) :: Double
    !v78 = (show (x * 78)) :: String
    v79 = (x - 79) :: Int
    !v80 = (x + 80) :: Int
    v81 = (fromIntegral x * 81.5) :: Double
    !v82 = (show (x * 82)) :: String
    v83 = (x - 83) :: Int
    !v84 = (x + 84) :: Int
    v85 = (fromIntegral x * 85.5) :: Double
    !v86 = (show (x * 86)) :: String
    v87 = (x - 87) :: Int
    !v88 = (x + 88) :: Int
    v89 = (fromIntegral x * 89.5) :: Double
  in \y -> y + v0 + truncate v1 + length v2 + v3 + v4 + truncate v5 + length v6 + v7 + v8 + truncate v9 + length v10 + v11 + v12 + truncate v13 + length v14 + v15 + v16 + truncate v17 + length v18 + v19 + v20 + truncate v21 + length v22 + v23 + v24 + truncate v25 + length v26 + v27 + v28 + truncate v29 + length v30 + v31 + v32 + truncate v33 + length v34 + v35 + v36 + truncate v37 + length v38 + v39 + v40 + truncate v41 + length v42 + v43 + v44 + truncate v45 + length v46 + v47 + v48 + truncate v49 + length v50 + v51 + v52 + truncate v53 + length v54 + v55 + v56 + truncate v57 + length v58 + v59 + v60 + truncate v61 + length v62 + v63 + v64 + truncate v65 + length v66 + v67 + v68 + truncate v69 + length v70 + v71 + v72 + truncate v73 + length v74 + v75 + v76 + truncate v77 + length v78 + v79 + v80 + truncate v81 + length v82 + v83 + v84 + truncate v85 + length v86 + v87 + v88 + truncate v89

-- A function of 70 arguments, called directly and through partial applications.
{-# NOINLINE many #-}
many :: Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> String -> Int -> Int -> Double -> Int
many v0 v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 v11 v12 v13 v14 v15 v16 v17 v18 v19 v20 v21 v22 v23 v24 v25 v26 v27 v28 v29 v30 v31 v32 v33 v34 v35 v36 v37 v38 v39 v40 v41 v42 v43 v44 v45 v46 v47 v48 v49 v50 v51 v52 v53 v54 v55 v56 v57 v58 v59 v60 v61 v62 v63 v64 v65 v66 v67 v68 v69 = pause 1 + v0 + truncate v1 + length v2 + v3 + v4 + truncate v5 + length v6 + v7 + v8 + truncate v9 + length v10 + v11 + v12 + truncate v13 + length v14 + v15 + v16 + truncate v17 + length v18 + v19 + v20 + truncate v21 + length v22 + v23 + v24 + truncate v25 + length v26 + v27 + v28 + truncate v29 + length v30 + v31 + v32 + truncate v33 + length v34 + v35 + v36 + truncate v37 + length v38 + v39 + v40 + truncate v41 + length v42 + v43 + v44 + truncate v45 + length v46 + v47 + v48 + truncate v49 + length v50 + v51 + v52 + truncate v53 + length v54 + v55 + v56 + truncate v57 + length v58 + v59 + v60 + truncate v61 + length v62 + v63 + v64 + truncate v65 + length v66 + v67 + v68 + truncate v69

main :: IO ()
main = do
  print (map frame [1, 5, 100])
  let fs = map closure [1 .. 50]
  performMajorGC
  print (sum (map ($ 3) fs))
  print (many (7 + 0) (fromIntegral 7 * 1.5) (show (7 * 2)) (7 - 3) (7 + 4) (fromIntegral 7 * 5.5) (show (7 * 6)) (7 - 7) (7 + 8) (fromIntegral 7 * 9.5) (show (7 * 10)) (7 - 11) (7 + 12) (fromIntegral 7 * 13.5) (show (7 * 14)) (7 - 15) (7 + 16) (fromIntegral 7 * 17.5) (show (7 * 18)) (7 - 19) (7 + 20) (fromIntegral 7 * 21.5) (show (7 * 22)) (7 - 23) (7 + 24) (fromIntegral 7 * 25.5) (show (7 * 26)) (7 - 27) (7 + 28) (fromIntegral 7 * 29.5) (show (7 * 30)) (7 - 31) (7 + 32) (fromIntegral 7 * 33.5) (show (7 * 34)) (7 - 35) (7 + 36) (fromIntegral 7 * 37.5) (show (7 * 38)) (7 - 39) (7 + 40) (fromIntegral 7 * 41.5) (show (7 * 42)) (7 - 43) (7 + 44) (fromIntegral 7 * 45.5) (show (7 * 46)) (7 - 47) (7 + 48) (fromIntegral 7 * 49.5) (show (7 * 50)) (7 - 51) (7 + 52) (fromIntegral 7 * 53.5) (show (7 * 54)) (7 - 55) (7 + 56) (fromIntegral 7 * 57.5) (show (7 * 58)) (7 - 59) (7 + 60) (fromIntegral 7 * 61.5) (show (7 * 62)) (7 - 63) (7 + 64) (fromIntegral 7 * 65.5) (show (7 * 66)) (7 - 67) (7 + 68) (fromIntegral 7 * 69.5))
  ref <- newIORef many
  f <- readIORef ref
  let p = f (7 + 0) (fromIntegral 7 * 1.5) (show (7 * 2)) (7 - 3) (7 + 4) (fromIntegral 7 * 5.5) (show (7 * 6)) (7 - 7) (7 + 8) (fromIntegral 7 * 9.5) (show (7 * 10)) (7 - 11) (7 + 12) (fromIntegral 7 * 13.5) (show (7 * 14)) (7 - 15) (7 + 16) (fromIntegral 7 * 17.5) (show (7 * 18)) (7 - 19) (7 + 20) (fromIntegral 7 * 21.5) (show (7 * 22)) (7 - 23) (7 + 24) (fromIntegral 7 * 25.5) (show (7 * 26)) (7 - 27) (7 + 28) (fromIntegral 7 * 29.5)
  performMajorGC
  let q = p (show (7 * 30)) (7 - 31) (7 + 32) (fromIntegral 7 * 33.5) (show (7 * 34)) (7 - 35) (7 + 36) (fromIntegral 7 * 37.5) (show (7 * 38)) (7 - 39) (7 + 40) (fromIntegral 7 * 41.5) (show (7 * 42)) (7 - 43) (7 + 44) (fromIntegral 7 * 45.5) (show (7 * 46)) (7 - 47) (7 + 48) (fromIntegral 7 * 49.5) (show (7 * 50)) (7 - 51) (7 + 52) (fromIntegral 7 * 53.5) (show (7 * 54)) (7 - 55) (7 + 56) (fromIntegral 7 * 57.5) (show (7 * 58)) (7 - 59) (7 + 60) (fromIntegral 7 * 61.5) (show (7 * 62)) (7 - 63) (7 + 64) (fromIntegral 7 * 65.5) (show (7 * 66)) (7 - 67)
  performMajorGC
  print (q (7 + 68) (fromIntegral 7 * 69.5))
  print (p (show (7 * 30)) (7 - 31) (7 + 32) (fromIntegral 7 * 33.5) (show (7 * 34)) (7 - 35) (7 + 36) (fromIntegral 7 * 37.5) (show (7 * 38)) (7 - 39) (7 + 40) (fromIntegral 7 * 41.5) (show (7 * 42)) (7 - 43) (7 + 44) (fromIntegral 7 * 45.5) (show (7 * 46)) (7 - 47) (7 + 48) (fromIntegral 7 * 49.5) (show (7 * 50)) (7 - 51) (7 + 52) (fromIntegral 7 * 53.5) (show (7 * 54)) (7 - 55) (7 + 56) (fromIntegral 7 * 57.5) (show (7 * 58)) (7 - 59) (7 + 60) (fromIntegral 7 * 61.5) (show (7 * 62)) (7 - 63) (7 + 64) (fromIntegral 7 * 65.5) (show (7 * 66)) (7 - 67) (7 + 68) (fromIntegral 7 * 69.5))
