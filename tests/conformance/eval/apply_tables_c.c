/* Prints what the collector reads about canned arguments, frames and standard thunks. */
#include "Rts.h"
#include <stdio.h>

static void frame(const char *name, const void *info)
{
    const StgInfoTable *table = INFO_PTR_TO_STRUCT((const StgInfoTable *)info);
    printf("%s: type %u, bitmap %#lx\n", name, (unsigned)table->type, (unsigned long)table->layout.bitmap);
}

static void closure(const char *name, const void *info)
{
    const StgInfoTable *table = INFO_PTR_TO_STRUCT((const StgInfoTable *)info);
    printf("%s: type %u, %u pointers, %u others\n", name, (unsigned)table->type,
           (unsigned)table->layout.payload.ptrs, (unsigned)table->layout.payload.nptrs);
}

#define FRAME(name) frame(#name, &name##_info)
#define CLOSURE(name) closure(#name, &name##_info)

void apply_tables(void)
{
    /* The first three types have bitmaps of their own. */
    for (int type = ARG_NONE; type <= ARG_PPPPPPPP; type++)
        printf("arguments of type %d: %#lx\n", type, (unsigned long)stg_arg_bitmaps[type]);
    FRAME(stg_ap_v);
    FRAME(stg_ap_f);
    FRAME(stg_ap_d);
    FRAME(stg_ap_l);
    FRAME(stg_ap_n);
    FRAME(stg_ap_p);
    FRAME(stg_ap_pv);
    FRAME(stg_ap_pp);
    FRAME(stg_ap_ppv);
    FRAME(stg_ap_ppp);
    FRAME(stg_ap_pppv);
    FRAME(stg_ap_pppp);
    FRAME(stg_ap_ppppp);
    FRAME(stg_ap_pppppp);
    FRAME(stg_ap_v16);
    FRAME(stg_ap_v32);
    FRAME(stg_ap_v64);
    CLOSURE(stg_ap_1_upd);
    CLOSURE(stg_ap_2_upd);
    CLOSURE(stg_ap_3_upd);
    CLOSURE(stg_ap_4_upd);
    CLOSURE(stg_ap_5_upd);
    CLOSURE(stg_ap_6_upd);
    CLOSURE(stg_ap_7_upd);
    CLOSURE(stg_sel_0_upd);
    CLOSURE(stg_sel_0_noupd);
    CLOSURE(stg_sel_1_upd);
    CLOSURE(stg_sel_1_noupd);
    CLOSURE(stg_sel_2_upd);
    CLOSURE(stg_sel_2_noupd);
    CLOSURE(stg_sel_3_upd);
    CLOSURE(stg_sel_3_noupd);
    CLOSURE(stg_sel_4_upd);
    CLOSURE(stg_sel_4_noupd);
    CLOSURE(stg_sel_5_upd);
    CLOSURE(stg_sel_5_noupd);
    CLOSURE(stg_sel_6_upd);
    CLOSURE(stg_sel_6_noupd);
    CLOSURE(stg_sel_7_upd);
    CLOSURE(stg_sel_7_noupd);
    CLOSURE(stg_sel_8_upd);
    CLOSURE(stg_sel_8_noupd);
    CLOSURE(stg_sel_9_upd);
    CLOSURE(stg_sel_9_noupd);
    CLOSURE(stg_sel_10_upd);
    CLOSURE(stg_sel_10_noupd);
    CLOSURE(stg_sel_11_upd);
    CLOSURE(stg_sel_11_noupd);
    CLOSURE(stg_sel_12_upd);
    CLOSURE(stg_sel_12_noupd);
    CLOSURE(stg_sel_13_upd);
    CLOSURE(stg_sel_13_noupd);
    CLOSURE(stg_sel_14_upd);
    CLOSURE(stg_sel_14_noupd);
    CLOSURE(stg_sel_15_upd);
    CLOSURE(stg_sel_15_noupd);
    fflush(stdout);
}
