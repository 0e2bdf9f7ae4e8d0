-- Creatures that meet in pairs at one place and change their colours: a thread for each, first three of them, then ten.
-- Argument: how many meetings.
-- ghc: -O
-- needs: hecaton
import System.Environment
import Threads

data Colour = Blue | Red | Yellow
  deriving (Eq, Enum)

-- | How many meetings there will be, and the creature that waits for another one, with its way to hear from it.
data Place = Place !Int !(Maybe (Colour, MVar Colour))

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  met <- withThreads $ \fork -> mapM (population fork n) [3, 10]
  print met

-- | The sum of the numbers of creatures that each has met.
population :: Fork -> Int -> Int -> IO Int
population fork meetings size = do
  place <- newMVar (Place meetings Nothing)
  sum <$> forkAll fork [newEmptyMVar >>= creature place colour 0 | colour <- take size (cycle [Blue ..])]

-- | How many others it meets.
creature :: MVar Place -> Colour -> Int -> MVar Colour -> IO Int
creature place = live
  where
    live colour met heard = do
      Place left waiting <- takeMVar place
      case waiting of
        _ | left == 0 -> putMVar place (Place 0 Nothing) >> return met
        Nothing -> do
          putMVar place (Place left (Just (colour, heard)))
          other <- takeMVar heard
          meet other
        Just (other, hears) -> do
          putMVar place (Place (left - 1) Nothing)
          putMVar hears colour
          meet other
      where
        meet other = let changed = complement colour other in changed `seq` (live changed $! met + 1) heard

complement :: Colour -> Colour -> Colour
complement x y
  | x == y = x
  | otherwise = toEnum (3 - fromEnum x - fromEnum y)
