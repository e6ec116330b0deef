//! Doubly linked lists over reserved memory.
//!
//! A node is a number. Its links stand in one array, in the place of its number. Behind the nodes
//! each list has one more place, its *sentinel*: the node before the first and after the last. So a
//! list is a circle, no step has a special case, and a node can leave a list that is not named. A
//! node is in one list at most. If it is in no list, its links lead to itself.

/// A node's neighbours.
#[derive(Clone, Copy)]
struct Links {
    next: u32,
    previous: u32,
}

/// Lists that share nodes.
pub(super) struct Lists {
    /// The links of the nodes, then those of the sentinels.
    links: Box<[Links]>,
    nodes: u32,
}

impl Lists {
    /// Returns `lists` empty lists for the nodes below `nodes`.
    pub(super) fn new(nodes: u32, lists: u32) -> Lists {
        let to_itself = |node| Links { next: node, previous: node };
        Lists { links: (0..nodes + lists).map(to_itself).collect(), nodes }
    }

    /// Appends a node that is in no list.
    pub(super) fn push(&mut self, list: u32, node: u32) {
        debug_assert!(!self.contains(node), "node {node} is in a list");
        let sentinel = self.nodes + list;
        let last = std::mem::replace(&mut self.at(sentinel).previous, node);
        *self.at(node) = Links { next: sentinel, previous: last };
        self.at(last).next = node;
    }

    /// Removes a node from its list. Does nothing if it is in no list.
    pub(super) fn remove(&mut self, node: u32) {
        let to_itself = Links { next: node, previous: node };
        let Links { next, previous } = std::mem::replace(self.at(node), to_itself);
        self.at(previous).next = next;
        self.at(next).previous = previous;
    }

    /// Moves a node to the end of a list.
    pub(super) fn renew(&mut self, list: u32, node: u32) {
        self.remove(node);
        self.push(list, node);
    }

    /// Returns a list's first node.
    pub(super) fn first(&self, list: u32) -> Option<u32> {
        let first = self.links[(self.nodes + list) as usize].next;
        (first < self.nodes).then_some(first)
    }

    /// True if the node is in a list.
    pub(super) fn contains(&self, node: u32) -> bool {
        self.links[node as usize].next != node
    }

    /// Returns the nodes of a list, first to last.
    pub(super) fn nodes(&self, list: u32) -> impl Iterator<Item = u32> {
        let next = |node: &u32| Some(self.links[*node as usize].next);
        std::iter::successors(self.first(list), next).take_while(|node| *node < self.nodes)
    }

    /// Returns the bytes of its memory.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&*self.links) as u64
    }

    fn at(&mut self, node: u32) -> &mut Links {
        &mut self.links[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_list_has_no_first_node() {
        let lists = Lists::new(0, 2);
        assert_eq!((lists.first(0), lists.first(1), lists.nodes(1).count()), (None, None, 0));
        assert_eq!(lists.bytes(), 16);
    }

    proptest! {
        /// Two lists agree with two vectors.
        #[test]
        fn lists_are_vectors(
            steps in prop::collection::vec((0u32..8, 0u32..2, 0..3), 1..200),
        ) {
            let mut lists = Lists::new(8, 2);
            let mut naive = [Vec::new(), Vec::new()];
            for (node, list, step) in steps {
                let is_in = naive.iter().any(|l| l.contains(&node));
                prop_assert_eq!(lists.contains(node), is_in);
                if step == 0 || (step == 1 && is_in) {
                    lists.remove(node);
                } else if step == 1 {
                    lists.push(list, node);
                } else {
                    lists.renew(list, node);
                }
                naive.iter_mut().for_each(|l| l.retain(|n| *n != node));
                if step == 2 || (step == 1 && !is_in) {
                    naive[list as usize].push(node);
                }
                for list in 0..2 {
                    prop_assert_eq!(&lists.nodes(list).collect::<Vec<_>>(), &naive[list as usize]);
                    prop_assert_eq!(lists.first(list), naive[list as usize].first().copied());
                }
            }
        }
    }
}
