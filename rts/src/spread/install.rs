//! Installing: makes the objects of a packet present at their fixed addresses.
//!
//! *Protocol*, under the export lock:
//!
//! 1. Objects that are present already are skipped. Others get their words, but for the header.
//! 2. A pointer into the slice of another processing element keeps its tag if its target is present or in the packet.
//!    If not, the tag is cut off, and the target becomes absent unless it is already.
//! 3. Headers are written with Release: first of objects that nothing here referred to, then of absent ones, companions
//!    before those that need them.
//! 4. The caller resumes the threads that wait for the absent ones.
//!
//! A packet that cannot be right ends the program.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::base::fatal;
use crate::hec::{out_of_memory, Hec};
use crate::info;
use crate::memory::address_space::is_own;
use crate::memory::fixed_blocks::is_fixed;
use crate::memory::in_heap;
use crate::memory::object_size::size_of_object;
use crate::spread::export::{self, Export};
use crate::spread::graph::{Extent, Graph, Parts};
use crate::spread::{cell, fields, program};
use std::collections::HashMap;

/// What an install has done.
#[derive(Default, Debug)]
pub struct Installed {
    /// The addresses of what was packed, with tags.
    pub roots: Vec<Closure>,
    /// Objects that were absent: threads may wait for them.
    pub arrived: Vec<Closure>,
    /// A thunk that was lent: now a local object.
    pub thunk: Option<Closure>,
}

/// An object of the packet.
#[derive(Clone, Copy)]
struct Arriving {
    address: Closure,
    /// Its words in the packet.
    words: Closure,
    size: usize,
}

impl Installed {
    /// The only root.
    pub fn root(&self) -> Closure {
        self.roots.first().copied().unwrap_or_else(|| malformed("it has no root"))
    }
}

struct Installer<'a> {
    export: &'a mut Export,
    /// The headers of all objects of the packet, by address.
    headers: HashMap<usize, usize>,
    /// Are this processing element's own objects always present?
    owns: bool,
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
    let mut installer = Installer { export, headers: HashMap::new(), owns };
    let objects = installer.objects(&parts);
    let missing: Vec<Arriving> = objects.into_iter().filter(|object| installer.is_missing(object.address)).collect();
    for object in &missing {
        installer.write_words(object);
    }
    let (mut absent, fresh): (Vec<Arriving>, Vec<Arriving>) =
        missing.into_iter().partition(|object| object.address.word(0) != 0);
    fresh.iter().for_each(|object| write_header(object));
    installer.companions_first(&mut absent);
    absent.iter().for_each(|object| write_header(object));
    let roots = parts.roots.iter().map(|&root| installer.pointer(root, None)).collect();
    let thunk = (!parts.thunk.is_empty()).then(|| installer.local_thunk(hec, &parts.thunk));
    Installed { roots, arrived: absent.into_iter().map(|object| object.address).collect(), thunk }
}

#[cold]
fn malformed(what: &str) -> ! {
    fatal::broken(&format!("a malformed packet: {what}"))
}

unsafe fn write_header(object: &Arriving) {
    AtomicUsize::from_ptr(object.address.slot(0)).store(object.words.word(0), Ordering::Release);
}

impl Installer<'_> {
    /// The objects of a packet, whose memory is made usable.
    unsafe fn objects(&mut self, parts: &Parts) -> Vec<Arriving> {
        let mut objects = Vec::new();
        let mut at = parts.words.as_ptr();
        for extent in &parts.extents {
            self.make_usable(extent);
            let end = at.add(extent.words);
            let mut address = extent.address;
            while at < end {
                let header = *at;
                self.check_header(header);
                self.headers.insert(address, header);
                let left = end.offset_from(at) as usize;
                let words = Closure(at as usize);
                let size = if left < 2 { usize::MAX } else { size_of_object(words, Info(header)) };
                if size > left || size < 2 {
                    malformed(&format!("an object of {size} words in {left} at {address:#x}"));
                }
                objects.push(Arriving { address: Closure(address), words, size });
                at = at.add(size);
                address += size * WORD;
            }
        }
        objects
    }

    unsafe fn make_usable(&mut self, extent: &Extent) {
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
        } else if !self.export.pieces.make_usable(address, end) {
            out_of_memory(words * WORD);
        }
    }

    unsafe fn check_header(&self, header: usize) {
        if !program::holds(header) || !header.is_multiple_of(WORD) {
            malformed(&format!("the header {header:#x}"));
        }
        let info = Info(header);
        let travels = match info.kind() {
            IND => info == info!(hec_CELL_info),
            PAP | ARR_WORDS => true,
            MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN => true,
            kind if fields::is_thunk(kind) => info != info!(hec_ABSENT_info),
            kind => fields::is_constructor(kind) || fields::is_function(kind),
        };
        if !travels {
            malformed(&format!("an object of closure type {}", info.kind()));
        }
    }

    /// Is there no object at the address yet?
    unsafe fn is_missing(&self, address: Closure) -> bool {
        matches!(address.word(0), 0) || cell::is_absent(address)
    }

    /// The header of a function that a PAP or AP applies.
    unsafe fn function_info(&self, function: Closure) -> Info {
        let function = function.untag();
        match self.headers.get(&function.0) {
            Some(&header) => Info(header),
            None if program::holds(function.0) || self.is_present(function) => function.info(),
            None => malformed(&format!("an application of {:#x}, which is not here", function.0)),
        }
    }

    unsafe fn is_present(&self, target: Closure) -> bool {
        in_heap(target.0) && self.export.pieces.is_usable(target.0) && is_fixed(target) && !self.is_missing(target)
    }

    /// Writes an object's words, but for the header.
    unsafe fn write_words(&mut self, object: &Arriving) {
        let Arriving { address, words, size } = *object;
        std::ptr::copy_nonoverlapping(words.slot(1), address.slot(1), size - 1);
        let info = words.info();
        self.install_pointers(words, address, info);
    }

    /// Writes an object's pointers to `to`, as they are on this processing element.
    unsafe fn install_pointers(&mut self, words: Closure, to: Closure, info: Info) {
        let kind = info.kind();
        let is_code = fields::is_function(kind) || fields::is_thunk(kind);
        if is_code {
            self.export.statics.note_code(info);
        }
        let mut slots = Vec::new();
        fields::each(words, info, &|function| self.function_info(function), |i| slots.push(i));
        for i in slots {
            to.set_word(i, self.pointer(words.field(i), is_code.then_some(to)).0);
        }
    }

    /// A pointer as it is on this processing element. `code`: a function or thunk that has it.
    unsafe fn pointer(&mut self, p: Closure, code: Option<Closure>) -> Closure {
        let target = p.untag();
        if program::holds(target.0) {
            self.export.statics.note(target);
            return p;
        }
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
        if self.headers.contains_key(&target.0) || self.is_present(target) {
            return p;
        }
        if let (Some(code), true) = (code, p.tag() != 0) {
            malformed(&format!("the code at {:#x} needs {:#x}, which is not here", code.0, p.0));
        }
        if !is_own(target.0) && !self.export.pieces.make_usable(target.0, target.0 + WORD) {
            out_of_memory(WORD);
        }
        if target.word(0) == 0 {
            AtomicUsize::from_ptr(target.slot(0)).store(info!(hec_ABSENT_info).0, Ordering::Release);
        }
        target
    }

    /// Sorts objects such that companions come before those that need them.
    unsafe fn companions_first(&self, objects: &mut Vec<Arriving>) {
        let needs = |object: &Arriving| {
            let kind = object.words.info().kind();
            fields::is_function(kind) || fields::is_thunk(kind) || kind == PAP
        };
        // What needs no companions but arrays, then arrays' and code's.
        let (mut code, data): (Vec<Arriving>, Vec<Arriving>) = objects.drain(..).partition(needs);
        let is_array = |object: &Arriving| {
            let kind = object.words.info().kind();
            kind == ARR_WORDS || fields::is_array(kind) || fields::is_small_array(kind)
        };
        let (arrays, data): (Vec<Arriving>, Vec<Arriving>) = data.into_iter().partition(is_array);
        objects.extend(arrays);
        objects.extend(data);
        let by_address: HashMap<usize, usize> = code.iter().enumerate().map(|(i, o)| (o.address.0, i)).collect();
        let mut placed = vec![false; code.len()];
        for first in 0..code.len() {
            let mut path = vec![(first, false)];
            while let Some((i, companions_done)) = path.pop() {
                if companions_done {
                    objects.push(code[i]);
                } else if !std::mem::replace(&mut placed[i], true) {
                    path.push((i, true));
                    let words = code[i].words;
                    fields::each(words, words.info(), &|function| self.function_info(function), |field| {
                        path.extend(by_address.get(&words.field(field).untag().0).map(|&other| (other, false)));
                    });
                }
            }
        }
        code.clear();
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
        std::ptr::copy_nonoverlapping(from.slot(0), thunk.slot(0), words.len());
        thunk.set_word(INDIRECTEE, 0);
        self.install_pointers(from, thunk, info);
        thunk
    }
}
