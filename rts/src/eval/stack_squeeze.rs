//! Stack squeezing: removing update frames from a stack.
use crate::abi::closure::fields::UPD_FRAME_WORDS;
use crate::abi::Tso;
use crate::eval::frames::Frame;

/// Removes update frames (youngest first) by moving the frames above them. Returns how far the frame `watch` has moved,
/// in words.
/// # Safety
/// The frames are on the current chunk of `t`, which is stopped and dirty.
pub(super) unsafe fn squeeze(t: Tso, gone: &[Frame], watch: Option<Frame>) -> usize {
    let sp = t.obj().stackobj.obj().sp as *mut usize;
    let mut to = (gone[gone.len() - 1].0).add(UPD_FRAME_WORDS);
    let mut shift = 0;
    for (i, gap) in gone.iter().enumerate().rev() {
        let from = if i > 0 { gone[i - 1].0.add(UPD_FRAME_WORDS) } else { sp };
        let words = gap.0.offset_from(from) as usize;
        to = to.sub(words);
        std::ptr::copy(from, to, words);
        if watch.is_some_and(|w| w.0 < gap.0) {
            shift += UPD_FRAME_WORDS;
        }
    }
    t.obj().stackobj.obj().sp = to as usize;
    shift
}
