-- | The machine's instructions.
module Mini.Code where

import Mini.Syntax

type Code = [Instruction]

data Instruction
  = Push !Literal
  | PushNil
  | Access !Int          -- ^ the variable that many binders out
  | Global !Name
  | Closure Code
  | Recursive Code       -- ^ a closure that sees itself as its outermost-but-one variable
  | Apply
  | Return
  | Bind                 -- ^ the top of the stack becomes a variable
  | Unbind !Int
  | Branch Code Code
  | BranchList Code Code -- ^ empty; or head and tail become variables
  | Operate !Operator
  deriving (Show)
