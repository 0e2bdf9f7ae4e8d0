//! Stack frames that unwinding distinguishes, and the step from one stack chunk to the next.
//!
//! Positions are in words from the frame's header. The runtime defines the layouts of the transactional frames itself;
//! `cmm/Stm.cmm` and `cmm/Exception.cmm` declare the same.
use crate::abi::closure::fields::UNDERFLOW_NEXT;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Stack, Tso};
use crate::hec::run_queue::dirty_tso;
use crate::hec::Hec;
use crate::info;
use crate::memory::object_size::size_of_frame;
use crate::thread::stack::dirty_stack;

/// `stg_atomically_frame`, `stg_atomically_waiting_frame`, `hec_restart_atomically`, and the same of `switch`:
/// {info, code}.
pub const ATOMICALLY_CODE: usize = 1;
pub const ATOMICALLY_WORDS: usize = 2;
/// `stg_catch_stm_frame` {info, begin, enclosing, handler} and
/// `stg_catch_retry_frame` {info, begin, enclosing, alternative}.
pub const NESTED_BEGIN: usize = 1;
pub const NESTED_ENCLOSING: usize = 2;
pub const NESTED_OTHER: usize = 3;
pub const NESTED_WORDS: usize = 4;

/// The sizes in words of frames that blocked threads leave on top of their stacks.
pub const BLOCK_TAKE_WORDS: usize = 2;
pub const BLOCK_PUT_VALUE: usize = 2;
pub const BLOCK_PUT_WORDS: usize = 3;
pub const BLOCK_THROWTO_WORDS: usize = 3;

/// A frame on a stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Frame(pub *mut usize);

/// # Safety
/// For all methods: the frame is on the stack of a thread that is stopped.
#[expect(clippy::missing_safety_doc, reason = "the section above is about all methods")]
impl Frame {
    /// The youngest frame of a chunk.
    pub unsafe fn youngest(s: Stack) -> Frame {
        Frame(s.obj().sp as *mut usize)
    }
    #[inline(always)]
    pub unsafe fn info(self) -> Info {
        Info(*self.0)
    }
    #[inline(always)]
    pub unsafe fn word(self, i: usize) -> usize {
        *self.0.add(i)
    }
    #[inline(always)]
    pub unsafe fn closure(self, i: usize) -> Closure {
        Closure(self.word(i))
    }
    #[inline(always)]
    pub unsafe fn set_info(self, i: Info) {
        *self.0 = i.0
    }
    /// The words of a small frame.
    #[inline(always)]
    pub unsafe fn small_words(self) -> usize {
        1 + self.info().small_bitmap().size()
    }
    /// The next older frame of the chunk.
    #[inline(always)]
    pub unsafe fn older(self) -> Frame {
        Frame(self.0.add(size_of_frame(self.0)))
    }
    /// The chunk below an underflow frame.
    pub unsafe fn next_chunk(self) -> Stack {
        debug_assert!(self.info().kind() == UNDERFLOW_FRAME);
        Stack(self.word(UNDERFLOW_NEXT))
    }
}

/// Is the frame, of type ATOMICALLY_FRAME, that of a `switch`?
unsafe fn is_switch(frame: Frame) -> bool {
    [info!(hec_switch_frame_info), info!(hec_switch_waiting_frame_info)].contains(&frame.info())
}

/// Turns the frame of a transaction into one that starts it again.
/// # Safety
/// As for the methods of [`Frame`]; the frame's type is ATOMICALLY_FRAME.
pub unsafe fn restart_at(frame: Frame) {
    frame.set_info(if is_switch(frame) { info!(hec_restart_switch_info) } else { info!(hec_restart_atomically_info) });
}

/// Turns the frame of a transaction into that of one that waits after `retry#`.
/// # Safety
/// As for [`restart_at`].
pub unsafe fn wait_at(frame: Frame) {
    frame.set_info(if is_switch(frame) {
        info!(hec_switch_waiting_frame_info)
    } else {
        info!(stg_atomically_waiting_frame_info)
    });
}

/// Does the frame belong to the evaluation itself, and not to the thread that performs it?
/// # Safety
/// As for the methods of [`Frame`].
pub unsafe fn is_pure(frame: Frame) -> bool {
    match frame.info().kind() {
        UPDATE_FRAME | RET_BIG | RET_FUN => true,
        RET_SMALL => !sets_masking(frame),
        _ => false,
    }
}

/// Does the frame set the thread's masking state?
/// # Safety
/// As for the methods of [`Frame`].
pub unsafe fn sets_masking(frame: Frame) -> bool {
    let masks = [
        info!(stg_maskAsyncExceptionszh_ret_info),
        info!(stg_maskUninterruptiblezh_ret_info),
        info!(stg_unmaskAsyncExceptionszh_ret_info),
    ];
    masks.contains(&frame.info())
}

/// The first word from `from` on that is one of the info pointers, or `top`. If there is none, no such frame is there
/// either. (Info tables that belong together are close to each other, so one comparison excludes most words.)
/// # Safety
/// The words from `from` to `top` are readable.
#[inline]
pub unsafe fn first_word_of<const N: usize>(infos: [Info; N], from: *mut usize, top: *mut usize) -> *mut usize {
    let infos = infos.map(|info| info.0);
    let lowest = infos.into_iter().fold(usize::MAX, usize::min);
    let span = infos.into_iter().fold(0, usize::max) - lowest;
    let mut word = from;
    // Compares the lower halves of four words at a time, which usually suffices.
    while top.offset_from(word) >= 4 && none_of_four(word, lowest as u32, span as u32) {
        word = word.add(4);
    }
    while word < top && !infos.contains(&*word) {
        word = word.add(1);
    }
    word
}

/// Is the lower half of none of the four words in the range from `lowest` to `lowest + span`?
#[inline]
unsafe fn none_of_four(words: *const usize, lowest: u32, span: u32) -> bool {
    use std::arch::x86_64::*;
    // Only signed numbers can be compared, so 2^31 is subtracted from both sides.
    const HALF: u32 = 1 << 31;
    let two = |i| _mm_castsi128_ps(_mm_loadu_si128(words.add(i) as *const __m128i));
    let lower_halves = _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(two(0), two(2)));
    let above = _mm_sub_epi32(lower_halves, _mm_set1_epi32(lowest.wrapping_add(HALF) as i32));
    let beyond = _mm_cmpgt_epi32(above, _mm_set1_epi32(span.wrapping_sub(HALF) as i32));
    _mm_movemask_epi8(beyond) == 0xffff
}

/// Drops the thread's current chunk, whose underflow frame is `frame`, and makes the one below current. Returns the
/// youngest frame there.
/// # Safety
/// The thread is stopped, or its registers are saved.
pub unsafe fn drop_chunk(hec: &mut Hec, t: Tso, frame: Frame) -> Frame {
    let below = frame.next_chunk();
    dirty_tso(&mut hec.remembered, t);
    let tso = t.obj();
    tso.tot_stack_size -= tso.stackobj.full_size() as u32;
    tso.stackobj = below;
    dirty_stack(hec, below);
    Frame::youngest(below)
}

/// Makes `frame` the youngest of the thread's current chunk, below the words of `push` (the first word on top).
/// # Safety
/// As for [`drop_chunk`]. The chunk is dirty, and has room for `push` in its reserved words.
pub unsafe fn set_top(t: Tso, frame: Frame, push: &[usize]) {
    let stack = t.obj().stackobj;
    stack.obj().sp = frame.0 as usize;
    crate::thread::create::push(stack, push);
}
