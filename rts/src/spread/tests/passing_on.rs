//! Weights of what travels: messages that wait for them.
use crate::cluster::build::Build;
use crate::cluster::credit::{Credit, Given};
use crate::cluster::element::{Element, HeapEvent};
use crate::cluster::ids::{Block, Call, Pe};
use crate::cluster::members::{Members, Outbox, SILENCE};
use crate::cluster::message::{Message, Parcel};
use crate::cluster::steal::Steal;
use crate::memory::address_space::range_bytes;
use crate::memory::BLOCK_BYTES;
use crate::spread::graph::Graph;
use crate::spread::heap::RealHeap;
use crate::testing::world::World;

const PES: usize = 4;

/// A call that refers to a block.
fn call(number: u64, block: Block) -> HeapEvent<Graph> {
    HeapEvent::Calls(Pe(2), Call(number), Graph::referring_to(vec![block]))
}

/// What is sent, and the weights that go with it.
fn sent(out: &mut Outbox<Graph>) -> Vec<(u16, String)> {
    let show = |message: Message<Graph>| match message {
        Message::Call { call: Call(number), parcel: Parcel { credits, .. } } => {
            format!("call {number} {:?}", credits.iter().map(|credit| credit.weight).collect::<Vec<_>>())
        }
        Message::Cancel(Call(number)) => format!("cancel {number}"),
        Message::MoreCredit(_) => "more".to_owned(),
        Message::ReturnCredits(credits) => format!("return {}", credits[0].weight),
        other => format!("{other:?}"),
    };
    out.drain(..).map(|(to, message)| (to.0, show(message))).collect()
}

#[test]
fn messages_wait_for_weights_and_keep_their_order() {
    let _world = World::new(2);
    // SAFETY: what is done needs no HEC.
    let heap = &mut unsafe { RealHeap::of(None, PES) };
    let blocks_of_each = (range_bytes() / PES / BLOCK_BYTES) as u64;
    let (own, block) = (Block(1), Block(blocks_of_each + 1));
    let others = (1..PES as u16).map(|pe| (Pe(pe), true));
    let members = Members::new(Pe(0), PES as u16, Build::new(&[]), SILENCE, SILENCE);
    let mut element = Element::<RealHeap>::new(Pe(0), members, Steal::new(others, 1), Given::new(8));
    let out = &mut Outbox::new();
    element.held.add(Credit { block, weight: 2 });
    element.on_heap_event(heap, call(1, block), out);
    assert_eq!(sent(out), [(2, "call 1 [1]".to_owned())]);
    element.on_heap_event(heap, call(2, block), out);
    assert_eq!(sent(out), [(1, "more".to_owned())]);
    element.on_heap_event(heap, HeapEvent::Cancels(Call(2)), out);
    element.on_heap_event(heap, call(3, own), out);
    // The weight that is left is kept for the message, and the own block is a root.
    element.on_collected(heap, |_| false, out);
    assert_eq!(sent(out), []);
    assert!(element.kept_blocks(heap).contains(&own) && !element.given.is_referenced(own));
    element.on_message(heap, Pe(1), Message::Credit(Credit { block, weight: 7 }), 0, out);
    assert_eq!(sent(out), [(2, "call 2 [4]"), (2, "cancel 2"), (2, "call 3 [8]")].map(|(to, m)| (to, m.to_owned())));
    assert!(element.given.is_referenced(own));
    element.on_collected(heap, |_| false, out);
    assert_eq!(sent(out), [(1, "return 4".to_owned())]);
    // A PE needs no weight for its own blocks.
    element.on_heap_event(heap, call(4, Block(2 * blocks_of_each)), out);
    assert_eq!(sent(out), [(2, "call 4 []".to_owned())]);
}
