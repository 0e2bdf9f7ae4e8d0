//! The register table that compiled code finds at BaseReg, and the descriptor of the block that it allocates in.
use crate::abi::layout::*;
use std::mem::{offset_of, size_of};

/// Entry points that compiled code calls through negative offsets from BaseReg.
#[repr(C)]
pub struct FunTable {
    pub eager_blackhole_info: usize,
    pub gc_enter_1: usize,
    pub gc_fun: usize,
}

/// Bytes of the general and vector registers that precede `rL1`.
const REGS_BEFORE_SP: usize = OFFSET_rSp;

/// The register table (`StgRegTable`).
#[repr(C)]
pub struct RegTable {
    /// R1..R10, F1..F6, D1..D6, XMM, YMM, ZMM, L1.
    pub regs: [u8; REGS_BEFORE_SP],
    pub sp: usize,
    pub sp_lim: usize,
    pub hp: usize,
    /// Zero asks the running thread to return to the scheduler at its next heap check.
    pub hp_lim: usize,
    pub cccs: usize,
    pub current_tso: usize,
    pub nursery: usize,
    pub current_nursery: *mut BlockDesc,
    /// The block that Cmm allocates small pinned arrays in (`rCurrentAlloc`). Compiled code does not use it.
    pub open_pinned: *mut BlockDesc,
    /// Bytes that the failed heap check asked for; 0 after a stack check.
    pub hp_alloc: usize,
    /// Why the thread returned to the scheduler.
    pub ret: usize,
}

impl RegTable {
    /// R1 of a thread that left with a value in it.
    pub fn r1(&self) -> usize {
        // SAFETY: R1 is the first word of the table.
        unsafe { *(self.regs.as_ptr() as *const usize) }
    }
}

/// Descriptor of a block or of a run of blocks. Compiled code stores the heap pointer in `free`, and reads `start` and
/// `units` around foreign calls.
#[repr(C, align(64))]
pub struct BlockDesc {
    pub start: usize,
    /// First free byte.
    pub free: usize,
    /// Next run in the list that the run is in.
    pub link: usize,
    /// Scan pointer while the run is to-space; previous run while it is free.
    pub scan: usize,
    pub back: usize,
    /// Unused half words, where the stock structure has generation numbers.
    pub spare: [u16; 4],
    /// Size in units of 4096 bytes, as compiled code expects; 0 if the thread is to stop (`AllocArea::publish_limit`).
    pub units: u32,
    /// Index of the run's first block.
    pub head: u32,
    /// Blocks of the run; valid in its first and last descriptor.
    pub len: u32,
    pub state: u32,
}

const _: () = {
    assert!(size_of::<FunTable>() == SIZEOF_FunTable);
    assert!(size_of::<RegTable>() == SIZEOF_RegTable);
    assert!(offset_of!(RegTable, sp_lim) == OFFSET_rSpLim);
    assert!(offset_of!(RegTable, hp) == OFFSET_rHp);
    assert!(offset_of!(RegTable, hp_lim) == OFFSET_rHpLim);
    assert!(offset_of!(RegTable, current_tso) == OFFSET_rCurrentTSO);
    assert!(offset_of!(RegTable, current_nursery) == OFFSET_rCurrentNursery);
    assert!(offset_of!(RegTable, open_pinned) == OFFSET_rCurrentAlloc);
    assert!(OFFSET_rCurrentAlloc == OFFSET_rCurrentNursery + size_of::<usize>());
    assert!(offset_of!(RegTable, hp_alloc) == OFFSET_rHpAlloc);
    assert!(offset_of!(RegTable, ret) == OFFSET_rRet);
    assert!(offset_of!(BlockDesc, start) == OFFSET_bdescr_start);
    assert!(offset_of!(BlockDesc, free) == OFFSET_bdescr_free);
    assert!(offset_of!(BlockDesc, units) == OFFSET_bdescr_blocks);
    assert!(size_of::<BlockDesc>() == 64);
};
