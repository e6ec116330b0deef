//! Where a run is cut.

use spirit_door::sim::{Quota, cuts};
use spirit_door::trace::Event;

use crate::runs::{fence, note, publish, store, sync, write_back};

#[test]
fn orders_are_cut_and_fences_on_both_sides() {
    let run = [
        store(0, 0, &[1]),
        write_back(0, 0, 8),
        fence(0),
        publish(0, 8, 1),
        store(0, 0, &[2]),
        note(0),
    ];
    let run = [&run[..], &[store(0, 0, &[3]), store(0, 0, &[4])]].concat();
    let orders = Quota { orders: 9, others: 0 };
    assert_eq!(cuts(&run, orders, 0), [2, 3, 4, 6, 8]);
    assert_eq!(cuts(&run, Quota::ALL, 0), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(cuts(&[], Quota::ALL, 0), [0]);
}

#[test]
fn syncs_are_cut_on_both_sides() {
    let run = [store(0, 0, &[1]), store(0, 8, &[2]), sync(), store(0, 0, &[3])];
    assert_eq!(cuts(&run, Quota { orders: 9, others: 0 }, 0), [2, 3, 4]);
}

#[test]
fn a_hot_site_leaves_room_for_a_rare_one() {
    let hot = |round| [store(0, 0, &[round]), write_back(0, 0, 8), fence(0)];
    let mut run: Vec<Event> = (0..1000).flat_map(hot).collect();
    run.insert(1501, publish(0, 8, 1));
    let quota = Quota { orders: 10, others: 5 };
    let positions = cuts(&run, quota, 1);
    assert!(positions.contains(&1502) && positions.contains(&run.len()));
    // Fences twice, the publication, stores, write-backs, the end; those that coincide are one.
    assert!((22..=20 + 1 + 10 + 1).contains(&positions.len()), "{}", positions.len());
    assert!(positions.is_sorted());
    let widest = positions.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(widest <= 2 * run.len() / 10, "spread over the run: {widest}");
    assert_eq!(positions, cuts(&run, quota, 1));
    assert_ne!(positions, cuts(&run, quota, 2));
}
