//! Installing: makes the objects of a packet present at their fixed addresses.
//!
//! *Protocol*, under the export lock:
//!
//! 1. Objects that are present already are skipped. Those at addresses that nothing here referred to are written
//!    whole. Of those that were absent all words but the headers are written: threads may enter them meanwhile.
//! 2. A pointer into the slice of another processing element keeps its tag if its target is present, or in the packet
//!    and not absent. Otherwise the tag is cut off, and the target becomes absent unless it is already.
//! 3. A function or thunk that needs what is in the packet, and was absent, gets a copy of it, with the tag.
//! 4. The headers of objects that were absent are written with Release.
//! 5. The caller resumes the threads that wait for these.
//!
//! *Why the order of headers does not matter*: code goes from one object to another by an untagged pointer, and then it
//! enters the header, which is whole or that of an absent object; or by one that makes it read words, or the header of
//! a function or of a constructor of a large type, without entering it. All of the latter lead to objects that were
//! complete before the first header of step 4 was written: present ones, fresh ones and copies. So functions that need
//! each other in a cycle, all of which were absent, need no stop of the world.
//!
//! A packet that cannot be right ends the program.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::hec::{out_of_memory, Hec};
use crate::info;
use crate::memory::address_space::is_own;
use crate::memory::exits;
use crate::memory::fixed_blocks::{is_fixed, note_arrival};
use crate::memory::in_heap;
use crate::memory::object_size::size_of_object;
use crate::prims::compact::table::ByAddress;
use crate::spread::export::{self, Export};
use crate::spread::graph::{Extent, Graph};
use crate::spread::packet::{malformed, Packet};
use crate::spread::remote_objects::{self, REMOTE_EXIT};
use crate::spread::travel::function_field;
use crate::spread::{cell, fields, program};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::AtomicU64;

/// What an install has done.
#[derive(Default, Debug)]
pub struct Installed {
    /// The addresses of what was packed, with tags.
    pub roots: Vec<Closure>,
    /// Objects that were absent: threads may wait for them.
    pub arrived: Vec<Closure>,
    /// Objects that were not known here, and are absent.
    pub missing: Vec<Closure>,
    /// A thunk that was lent: now a local object.
    pub thunk: Option<Closure>,
}

impl Installed {
    /// The only root.
    pub fn root(&self) -> Closure {
        self.roots.first().copied().unwrap_or_else(|| malformed("it has no root"))
    }
}

/// References to objects of other processing elements that were here when they arrived.
static PRESENT: AtomicU64 = AtomicU64::new(0);

/// How many references in packets led to an object of another processing element that had been cached before.
pub fn present_targets() -> u64 {
    PRESENT.load(Ordering::Relaxed)
}

struct Installer<'a> {
    export: &'a mut Export,
    packet: &'a Packet<'a>,
    /// Copies of objects that were absent, for code that needs them, by the addresses of these.
    copies: HashMap<usize, Closure, BuildHasherDefault<ByAddress>>,
    /// Copies whose words are still to be written.
    unwritten: Vec<Arriving>,
    /// What it has made absent.
    missing: Vec<Closure>,
    /// Are this processing element's own objects always present?
    owns: bool,
    /// References to what is elsewhere, and was present.
    present: u64,
}

/// An object of the packet, and where its words in the packet are.
struct Arriving {
    to: Closure,
    words: Closure,
    size: usize,
}

/// What has a pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// What enters it if it is not tagged.
    Data,
    /// Code, which may know what it leads to.
    Code,
}

/// Installs a packet.
/// # Safety
/// The caller holds the HEC. The packet was packed by the same program, whose slices are the same.
pub unsafe fn install(hec: &mut Hec, graph: &Graph) -> Installed {
    install_as(hec, graph, true)
}

/// As [`install`]. Unless `owns`, objects in this processing element's slice are treated as those of another one.
/// # Safety
/// As for [`install`].
pub(super) unsafe fn install_as(hec: &mut Hec, graph: &Graph, owns: bool) -> Installed {
    let Some(parts) = graph.parts() else { malformed("its lengths do not fit") };
    let export = &mut *export::lock();
    parts.extents.iter().for_each(|extent| make_usable(export, extent));
    let packet = &Packet::of(&parts.extents, &parts.words);
    let mut installer = Installer {
        export,
        packet,
        copies: HashMap::default(),
        unwritten: Vec::new(),
        missing: Vec::new(),
        owns,
        present: 0,
    };
    let mut absent = Vec::new();
    packet.each(|to, words, size| {
        let header = to.word(0);
        if header == 0 {
            installer.write(&Arriving { to, words, size });
        } else if header == info!(hec_ABSENT_info).0 {
            installer.write_payload(&Arriving { to, words, size });
            absent.push(Arriving { to, words, size });
        }
    });
    while let Some(copy) = installer.unwritten.pop() {
        installer.write(&copy);
    }
    for object in &absent {
        AtomicUsize::from_ptr(object.to.slot(0)).store(object.words.word(0), Ordering::Release);
    }
    let roots = parts.roots.iter().map(|&root| installer.pointer(root, Holder::Data)).collect();
    PRESENT.fetch_add(installer.present, Ordering::Relaxed);
    let thunk = (!parts.thunk.is_empty()).then(|| installer.local_thunk(hec, &parts.thunk));
    let missing = installer.missing;
    Installed { roots, arrived: absent.into_iter().map(|object| object.to).collect(), missing, thunk }
}

/// Gives an absent object a local value, or a thunk that will have it: it becomes a cell, whatever it is at its owner.
/// # Safety
/// The caller holds the HEC. The value is live.
pub unsafe fn fill(absent: Closure, value: Closure) {
    let export = &mut *export::lock();
    if !cell::is_absent(absent) {
        return;
    }
    if !export.pieces.make_usable(absent.0, absent.0 + cell::CELL_WORDS * WORD) {
        out_of_memory(WORD);
    }
    absent.set_word(INDIRECTEE, value.0);
    exits::add(absent.slot(INDIRECTEE));
    AtomicUsize::from_ptr(absent.slot(0)).store(info!(hec_CELL_info).0, Ordering::Release);
}

/// Is what a pointer leads to as its owner has it? An absent object is not, nor one that has been filled, to which a
/// tagged pointer may lead.
unsafe fn is_whole(p: Closure) -> bool {
    let target = p.untag();
    !cell::is_absent(target) && (p.tag() == 0 || !cell::is_cell(target))
}

unsafe fn make_usable(export: &mut Export, extent: &Extent) {
    let Extent { address, words } = *extent;
    let ends = words.checked_mul(WORD).and_then(|bytes| address.checked_add(bytes));
    let Some(end) = ends.filter(|&end| words > 0 && in_heap(address) && in_heap(end - WORD)) else {
        malformed(&format!("{words} words at {address:#x}"))
    };
    if !address.is_multiple_of(WORD) || is_own(address) != is_own(end - WORD) {
        malformed(&format!("{words} words at {address:#x}"));
    }
    if is_own(address) {
        if !is_fixed(Closure(address)) || !is_fixed(Closure(end - WORD)) {
            malformed(&format!("objects at {address:#x}, where this PE has none that are fixed"));
        }
    } else if export.pieces.make_usable(address, end) {
        note_arrival(words * WORD);
    } else {
        out_of_memory(words * WORD);
    }
}

impl Installer<'_> {
    /// The header of a function that a PAP or AP applies.
    unsafe fn function_info(&self, function: Closure) -> Info {
        let function = function.untag();
        match self.packet.find(function.0) {
            Some(words) => words.info(),
            None if program::holds(function.0) || self.is_present(function) => function.info(),
            None => malformed(&format!("an application of {:#x}, which is not here", function.0)),
        }
    }

    unsafe fn is_present(&self, target: Closure) -> bool {
        let usable = in_heap(target.0) && self.export.pieces.is_usable(target.0) && is_fixed(target);
        usable && target.word(0) != 0 && !cell::is_absent(target)
    }

    /// Writes an object to which nothing refers yet.
    unsafe fn write(&mut self, object: &Arriving) {
        object.to.set_word(0, object.words.word(0));
        self.write_payload(object);
    }

    /// Writes an object's words, but for the header.
    unsafe fn write_payload(&mut self, object: &Arriving) {
        let Arriving { to, words, size } = *object;
        fields::copy_words(words.slot(1), to.slot(1), size - 1);
        self.install_pointers(words, to, words.info());
    }

    /// Writes an object's pointers to `to`, as they are on this processing element.
    unsafe fn install_pointers(&mut self, words: Closure, to: Closure, info: Info) {
        let kind = info.kind();
        let is_code = fields::is_function(kind) || fields::is_thunk(kind);
        if is_code {
            self.export.statics.note_code(info);
        }
        let applied = function_field(kind);
        let function = applied.map_or(Info(0), |i| self.function_info(words.field(i)));
        fields::each(words, info, &|_| function, |i| {
            let holder = if is_code || applied == Some(i) { Holder::Code } else { Holder::Data };
            let p = self.pointer(words.field(i), holder);
            to.set_word(i, p.0);
            if p.tag() == 0 && self.owns && is_own(p.0) && remote_objects::is_remote(p.info()) {
                self.bring_home(to.slot(i), p);
            }
        });
    }

    /// A word leads to what stands elsewhere for an own MVar or the like: it gets the object itself.
    unsafe fn bring_home(&mut self, slot: *mut usize, remote: Closure) {
        *slot = remote.word(REMOTE_EXIT);
        if is_fixed(Closure(slot as usize)) {
            self.export.remote_exits.add(slot, remote);
        }
    }

    /// A pointer as it is on this processing element.
    #[inline]
    unsafe fn pointer(&mut self, p: Closure, holder: Holder) -> Closure {
        let target = p.untag();
        if program::holds(target.0) {
            self.export.statics.note(target);
            return p;
        }
        if let Some(words) = self.packet.find(target.0) {
            if is_whole(p) {
                return p;
            }
            let kind = words.info().kind();
            let is_code = || fields::is_function(kind) || fields::is_thunk(kind) || kind == PAP;
            // Code enters what it does not know, and may find it absent.
            let knows = holder == Holder::Code && (p.tag() != 0 || is_code());
            return if knows { self.copy(target, words).with_tag(p.tag()) } else { target };
        }
        self.pointer_elsewhere(p, holder)
    }

    /// A pointer to what is not in the packet.
    unsafe fn pointer_elsewhere(&mut self, p: Closure, holder: Holder) -> Closure {
        let target = p.untag();
        if !in_heap(target.0) {
            malformed(&format!("a pointer to {:#x}", p.0));
        }
        if is_own(target.0) {
            if !is_fixed(target) {
                malformed(&format!("a pointer to {:#x}, which is not fixed", p.0));
            }
            if self.owns {
                return p;
            }
        }
        if self.is_present(target) && is_whole(p) {
            self.present += 1;
            return p;
        }
        if holder == Holder::Code && p.tag() != 0 {
            malformed(&format!("code that needs {:#x}, which is not here", p.0));
        }
        if !is_own(target.0) && !self.export.pieces.make_usable(target.0, target.0 + WORD) {
            out_of_memory(WORD);
        }
        if target.word(0) == 0 {
            AtomicUsize::from_ptr(target.slot(0)).store(info!(hec_ABSENT_info).0, Ordering::Release);
            self.missing.push(target);
        }
        target
    }

    /// A copy of an object that was absent, for code that must not find it so.
    #[cold]
    unsafe fn copy(&mut self, absent: Closure, words: Closure) -> Closure {
        if let Some(&copy) = self.copies.get(&absent.0) {
            return copy;
        }
        let size = size_of_object(words, words.info());
        let to = self.export.allocate(size);
        self.copies.insert(absent.0, to);
        self.unwritten.push(Arriving { to, words, size });
        to
    }

    /// A local thunk of words that were lent.
    unsafe fn local_thunk(&mut self, hec: &mut Hec, words: &[usize]) -> Closure {
        let from = Closure(words.as_ptr() as usize);
        let info = from.info();
        let is_thunk = program::holds(info.0)
            && (fields::is_thunk(info.kind()) || matches!(info.kind(), AP | THUNK_SELECTOR))
            && words.len() > THUNK_PAYLOAD;
        if !is_thunk || size_of_object(from, info) != words.len() {
            malformed("its thunk is none");
        }
        let thunk = hec.allocate(words.len());
        fields::copy_words(from.slot(0), thunk.slot(0), words.len());
        thunk.set_word(INDIRECTEE, 0);
        self.install_pointers(from, thunk, info);
        thunk
    }
}
