/* Operations on remote objects (Remote.cmm): a function of
 * rts/haskell/Spread.hs has the owner perform them. */

#pragma once

#define IS_REMOTE(object, info) (%INFO_PTR(object) == info)

#define ON_OWNER(function, object)                                      \
    jump stg_ap_pv_fast(hecatonzmrts_Spread_##function##_closure, object)

#define ON_OWNER_WITH(function, object, argument)                       \
    jump stg_ap_ppv_fast(hecatonzmrts_Spread_##function##_closure, object, argument)

import CLOSURE hecatonzmrts_Spread_takeMVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_readMVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_putMVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_tryTakeMVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_tryReadMVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_tryPutMVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_isEmptyMVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_readTVarRemote_closure;
import CLOSURE hecatonzmrts_Spread_remoteTVar_closure;
import CLOSURE hecatonzmrts_Spread_throwToRemote_closure;
import CLOSURE hecatonzmrts_Spread_threadStatusRemote_closure;
import CLOSURE hecatonzmrts_Spread_deRefWeakRemote_closure;
import CLOSURE hecatonzmrts_Spread_finalizzeWeakRemote_closure;
