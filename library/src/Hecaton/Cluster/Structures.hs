-- | I-structures and M-structures [FN96, section 3.2] for programs over several processing elements (PEs): variables
-- that are filled once and read by all, and cells that are emptied and filled again, with arrays of both.
--
-- An I-structure is written at its owner, which acknowledges it. Its value travels like any other, so it is cached
-- where it has been read. An M-structure is read at its owner only.
--
-- The pieces of an array are dealt out to the PEs in turn. So an array may be larger than the heap of any of them.
module Hecaton.Cluster.Structures
  ( -- * I-structures
    IVar,
    newIVar,
    newIVarOn,
    putIVar,
    tryPutIVar,
    readIVar,
    isFullIVar,
    IVarFull (..),

    -- ** Arrays
    IArray,
    newIArray,
    writeIArray,
    (!),
    boundsIArray,
    pieceOf,

    -- * M-structures
    MCell,
    newMCell,
    newMCellOn,
    takeMCell,
    putMCell,
    modifyMCell,

    -- ** Arrays
    MArray,
    newMArray,
    takeMArray,
    putMArray,
    modifyMArray,
    boundsMArray,
  )
where

import Control.Concurrent.MVar
import Control.Exception (Exception, mask, onException, throwIO)
import Control.Monad (replicateM, unless)
import Data.Array (Array, Ix, index, listArray, rangeSize)
import qualified Data.Array as Array
import GHC.IO (unsafeDupableInterleaveIO)
import Hecaton.Cluster

infixl 9 !

-- | A variable that is filled once. The second field is its value, which waits for the first to be filled: where it has
-- been needed, it is there.
data IVar a = IVar (MVar a) a

instance Eq (IVar a) where
  IVar a _ == IVar b _ = a == b

-- | A variable was filled twice.
data IVarFull = IVarFull
  deriving (Show)

instance Exception IVarFull

-- | An empty variable of this PE.
newIVar :: IO (IVar a)
newIVar = do
  contents <- newEmptyMVar
  IVar contents <$> unsafeDupableInterleaveIO (readMVar contents)

-- | An empty variable of another PE.
newIVarOn :: PE -> IO (IVar a)
newIVarOn pe = remoteOn pe newIVar >>= await

-- | Fills a variable. Raises 'IVarFull' if it is full.
putIVar :: IVar a -> a -> IO ()
putIVar variable value = do
  isDone <- tryPutIVar variable value
  unless isDone (throwIO IVarFull)

-- | Fills a variable, unless it is full.
tryPutIVar :: IVar a -> a -> IO Bool
tryPutIVar (IVar contents _) = tryPutMVar contents

-- | The value that a variable has or will have, evaluated where the variable is.
readIVar :: IVar a -> a
readIVar (IVar _ value) = value

isFullIVar :: IVar a -> IO Bool
isFullIVar (IVar contents _) = not <$> isEmptyMVar contents

-- | An array in pieces: its bounds, and each piece with the PE that has it.
data Pieces i piece = Pieces (i, i) (Array Int (PE, piece))

-- | Elements of a piece. Its table travels whole, when another PE reads the first element of it.
pieceSize :: Int
pieceSize = 1024

-- | Makes an array whose pieces are made by their PEs, given how many elements they have.
newPieces :: Ix i => (i, i) -> (Int -> IO piece) -> IO (Pieces i piece)
newPieces range make = do
  count <- numPEs
  let size = rangeSize range
      sizes = [min pieceSize (size - from) | from <- [0, pieceSize .. size - 1]]
      places = cycle (map PE [0 .. count - 1])
  futures <- sequence [(,) pe <$> remoteOn pe (make n) | (n, pe) <- zip sizes places]
  pieces <- mapM (\(pe, future) -> (,) pe <$> await future) futures
  pure (Pieces range (listArray (0, length pieces - 1) pieces))

-- | The place of an element: its PE, its piece, and its number there.
locate :: Ix i => Pieces i piece -> i -> (PE, piece, Int)
locate (Pieces range pieces) i = (pe, piece, offset)
  where
    (number, offset) = index range i `quotRem` pieceSize
    (pe, piece) = pieces Array.! number

-- | Performs an operation on an element where that is.
atElement :: Ix i => Pieces i (Array Int e) -> i -> (e -> IO a) -> IO a
atElement pieces i act = do
  let (pe, piece, offset) = locate pieces i
  me <- myPE
  if pe == me then act (piece Array.! offset) else remoteOn pe (act (piece Array.! offset)) >>= await

-- | An array of 'IVar's.
newtype IArray i e = IArray (Pieces i (Array Int (IVar e)))

-- | An array of empty elements with these bounds.
newIArray :: Ix i => (i, i) -> IO (IArray i e)
newIArray range = IArray <$> newPieces range (\n -> listArray (0, n - 1) <$> replicateM n newIVar)

-- | Fills an element. Raises 'IVarFull' if it is full.
writeIArray :: Ix i => IArray i e -> i -> e -> IO ()
writeIArray (IArray pieces) i value = atElement pieces i (`putIVar` value)

-- | The value that an element has or will have.
(!) :: Ix i => IArray i e -> i -> e
IArray pieces ! i = let (_, piece, offset) = locate pieces i in readIVar (piece Array.! offset)

boundsIArray :: IArray i e -> (i, i)
boundsIArray (IArray (Pieces range _)) = range

-- | The PE that has an element.
pieceOf :: Ix i => IArray i e -> i -> PE
pieceOf (IArray pieces) i = let (pe, _, _) = locate pieces i in pe

-- | A cell that is full or empty.
newtype MCell a = MCell (MVar a)
  deriving (Eq)

-- | A full cell of this PE.
newMCell :: a -> IO (MCell a)
newMCell value = MCell <$> newMVar value

-- | A full cell of another PE.
newMCellOn :: PE -> a -> IO (MCell a)
newMCellOn pe value = remoteOn pe (newMCell value) >>= await

-- | Empties a cell, and waits until it is full.
takeMCell :: MCell a -> IO a
takeMCell (MCell contents) = takeMVar contents

-- | Fills a cell, and waits until it is empty.
putMCell :: MCell a -> a -> IO ()
putMCell (MCell contents) = putMVar contents

-- | Empties a cell and fills it with what the function makes of the value. If that fails, the cell has its value again.
modifyMCell :: MCell a -> (a -> IO (a, b)) -> IO b
modifyMCell (MCell contents) = modifyMVar contents

-- | An array of 'MCell's.
newtype MArray i e = MArray (Pieces i (Array Int (MCell e)))

-- | An array whose elements all have this value.
newMArray :: Ix i => (i, i) -> e -> IO (MArray i e)
newMArray range value = MArray <$> newPieces range (\n -> listArray (0, n - 1) <$> replicateM n (newMCell value))

takeMArray :: Ix i => MArray i e -> i -> IO e
takeMArray (MArray pieces) i = atElement pieces i takeMCell

putMArray :: Ix i => MArray i e -> i -> e -> IO ()
putMArray (MArray pieces) i value = atElement pieces i (`putMCell` value)

-- | Empties an element and fills it with what the function makes of the value. The function runs on this PE. If it
-- fails, the element has its value again.
modifyMArray :: Ix i => MArray i e -> i -> (e -> IO (e, a)) -> IO a
modifyMArray array i change = mask $ \restore -> do
  value <- takeMArray array i
  (value', result) <- restore (change value) `onException` putMArray array i value
  putMArray array i value'
  pure result

boundsMArray :: MArray i e -> (i, i)
boundsMArray (MArray (Pieces range _)) = range
