-- Waits on what cannot be polled: files, /dev/null and numbers that are not open; the manager is as good as before.
-- skip-poll: poll(2) says of files and /dev/null that they are always ready
import BothWays

main :: IO ()
main = unpollable
