-- interact over standard input, lazily.
-- stdin: one two
-- stdin: three
-- stdin: 12 30
main :: IO ()
main = interact (unlines . map (show . length . words) . lines)
