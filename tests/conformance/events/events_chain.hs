-- A byte through a chain of 300 pipes, each with a thread that waits; several times, and several bytes at once.
import BothWays

main :: IO ()
main = chain 300
