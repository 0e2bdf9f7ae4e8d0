-- | A plugin for ghc that lets other HECs evaluate lazy values of a module before they are needed (lenient evaluation),
-- so that a program without annotations runs in parallel.
--
-- > ghc -O -threaded -fplugin=Hecaton.Lenient Main.hs
-- > ./Main +RTS -N2
--
-- After the last simplifier pass, each local @let@ whose right-hand side is a thunk worth evaluating is given to the
-- runtime when it is made. So is each such field of a constructor and each such argument of a function that is not
-- known to be strict in it, because ghc moves the right-hand side of a @let@ to where it is used once. Not given are
-- values, right-hand sides that are cheap, those that certainly raise an exception, and join points. HECs with nothing
-- else to do evaluate what is given. The program does not wait for it, and its meaning stays the same:
--
-- * Exceptions stay in the value, and an evaluation that does not end costs idle cores only.
--
-- * Effects of @unsafePerformIO@ and @unsafeInterleaveIO@ happen when the value is needed, as before. Those of
--   @unsafeDupablePerformIO@ and @unsafeDupableInterleaveIO@ may happen sooner, or though the value is never needed.
--
-- * A loop that does not allocate cannot be stopped, so the plugin has ghc compile the module with
--   @-fno-omit-yields@. One in a library that is compiled otherwise may keep all HECs from collecting garbage.
--
-- The options are given as @-fplugin-opt=Hecaton.Lenient:OPTION@, also in a module's @OPTIONS_GHC@: @off@ leaves the
-- module as it is; @size=N@ does not spark right-hand sides smaller than N (ghc's measure; 0 by default).
module Hecaton.Lenient
  ( plugin,
  )
where

import Control.Monad (zipWithM)
import Data.List (stripPrefix)
import Data.Maybe (fromMaybe, isJust, listToMaybe, mapMaybe)
import GHC.Core.Opt.Arity (exprBotStrictness_maybe)
import GHC.Core.Stats (exprSize)
import GHC.Driver.Finder (findImportedModule)
import GHC.Hs
import GHC.Iface.Env (lookupOrigIO)
import GHC.Plugins
import GHC.Types.Demand (isStrictDmd, splitStrictSig)
import Text.Read (readMaybe)

-- | The plugin, for ghc.
plugin :: Plugin
plugin =
  defaultPlugin
    { installCoreToDos = install,
      parsedResultAction = \options _ -> pure . importRuntime options,
      dynflagsPlugin = \options flags -> pure (if isOff options then flags else gopt_unset flags Opt_OmitYields),
      pluginRecompile = flagRecompile
    }

isOff :: [CommandLineOption] -> Bool
isOff = elem "off"

runtimeModule :: ModuleName
runtimeModule = mkModuleName "Hecaton.Lenient.Runtime"

-- The import makes ghc link the package.
importRuntime :: [CommandLineOption] -> HsParsedModule -> HsParsedModule
importRuntime options parsed
  | isOff options = parsed
  | otherwise = parsed {hpm_module = fmap add (hpm_module parsed)}
  where
    add m = m {hsmodImports = noLoc nothing : hsmodImports m}
    nothing = (simpleImportDecl runtimeModule) {ideclHiding = Just (False, noLoc []), ideclImplicit = True}

install :: [CommandLineOption] -> [CoreToDo] -> CoreM [CoreToDo]
install options passes
  | isOff options = pure passes
  | otherwise = pure (passes ++ [CoreDoPluginPass "lenient evaluation" (pass smallest)])
  where
    smallest = fromMaybe 0 (listToMaybe (mapMaybe (\o -> stripPrefix "size=" o >>= readMaybe) options))

pass :: Int -> ModGuts -> CoreM ModGuts
pass smallest guts = do
  env <- getHscEnv
  found <- liftIO (findImportedModule env runtimeModule Nothing)
  case found of
    Found _ runtime -> do
      name <- liftIO (lookupOrigIO env runtime (mkVarOcc "lenient"))
      function <- lookupId name
      binds <- mapM (sparkInTop smallest function) (mg_binds guts)
      pure guts {mg_binds = binds}
    _ -> fatalErrorMsgS "Hecaton.Lenient: the package hecaton is not visible" >> pure guts

sparkInTop :: Int -> Id -> CoreBind -> CoreM CoreBind
sparkInTop smallest function top = case top of
  NonRec b e -> NonRec b <$> rightHandSide e
  Rec pairs -> Rec <$> mapM (\(b, e) -> (,) b <$> rightHandSide e) pairs
  where
    -- What a variable is bound to: a constructor application stays one.
    rightHandSide e = case fields e of
      Just (con, args) -> mkApps con <$> mapM expr args
      Nothing -> expr e

    expr e = case e of
      Let bind body -> do
        (bind', made) <- local bind
        (\body' -> Let bind' (sparks made body')) <$> expr body
      _ | Just (con, args) <- fields e -> applied con <$> mapM field args
      App _ _ -> do
        let (f, args) = collectArgs e
        applied <$> expr f <*> zipWithM argument (areLazy f args) args
      Lam b body -> Lam b <$> expr body
      Case scrutinee b t alts -> do
        scrutinee' <- expr scrutinee
        alts' <- mapM (\(con, bs, rhs) -> (,,) con bs <$> expr rhs) alts
        pure (Case scrutinee' b t alts')
      Cast inner co -> (`Cast` co) <$> expr inner
      Tick tick inner -> Tick tick <$> expr inner
      _ -> pure e

    -- A function or constructor applied to arguments, of which some have got names.
    applied f args = foldr (\(b, rhs) -> Let (NonRec b rhs)) (sparks made (mkApps f (map fst args))) made
      where
        made = concatMap snd args

    -- A local binding, and those of its variables that are to be sparked. A field of a constructor gets a name. If the
    -- binding is not recursive then, the name is bound with it, in the order of use, which a recursive group has, too.
    local bind = do
      (pairs, named) <- unzip <$> mapM binding (flattenBinds [bind])
      let made = concat named
          all' = made ++ pairs
          worth = [pair | (pair@(b, _), (_, old)) <- zip pairs (flattenBinds [bind]), isThunk b, isWorth old]
          bind' = case (bind, all') of
            (NonRec _ _, [(b, e)]) -> NonRec b e
            _ -> Rec all'
      pure (bind', made ++ worth)

    binding (b, e) = case fields e of
      Just (con, args) | not (isJoinId b) -> do
        (args', named) <- unzip <$> mapM field args
        pure ((b, mkApps con args'), concat named)
      _ -> (\e' -> ((b, e'), [])) <$> expr e

    -- A saturated application of a constructor.
    fields e = case collectArgs e of
      (con@(Var f), args)
        | isDataConWorkId f, not (null args), length (filter isValArg args) == idArity f -> Just (con, args)
      _ -> Nothing

    -- A field that is worth it gets a name.
    field a
      | isTypeArg a || not (isWorth a) || isUnliftedType (exprType a) = unnamed a
      | otherwise = do
        a' <- expr a
        b <- mkSysLocalM (fsLit "lenient") Many (exprType a)
        pure (Var b, [(b, a')])

    -- An argument that the function may not need, and that is worth it, gets a name.
    argument isLazy a
      | isLazy = field a
      | otherwise = unnamed a

    unnamed a = (\a' -> (a', [])) <$> expr a

    -- Which arguments the function does not evaluate at once. One that raises an exception needs none.
    areLazy f args = case f of
      Var g
        | isDeadEndId g -> map (const False) args
        | otherwise -> match (map isStrictDmd (fst (splitStrictSig (idStrictness g)))) args
      _ -> map (const True) args
      where
        match _ [] = []
        match demands (a : as)
          | isTypeArg a = False : match demands as
        match [] (_ : as) = True : match [] as
        match (isStrict : demands) (_ : as) = not isStrict : match demands as

    -- Not a join point, not of an unlifted type, and not evaluated at once.
    isThunk b = isId b && not (isJoinId b) && not (isUnliftedType (idType b)) && not (isStrictDmd (idDemandInfo b))

    isWorth e =
      not (exprIsHNF e) && not (exprIsCheap e) && not (isJust (exprBotStrictness_maybe e)) && exprSize e >= smallest

    sparks made body = foldr spark body made

    spark (b, _) body = Case call (mkWildValBinder Many unitTy) (exprType body) [(DEFAULT, [], body)]
      where
        call = mkApps (Var function) [Type (idType b), Var b]
