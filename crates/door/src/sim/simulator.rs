//! The replay of a trace, event by event.

use std::collections::BTreeMap;

use crate::site::Site;
use crate::trace::{Action, Event};

use super::Model;
use super::image::{Change, Image, WORD_BYTES};
use super::images::Images;
use super::lint::{Finding, Lint};
use super::overlay::Overlay;
use super::pending::{Pending, PendingStores};
use super::random::Random;

/// A run up to some event.
#[derive(Debug)]
pub struct Simulator<'e> {
    events: &'e [Event],
    position: usize,
    dropped: Option<Site>,
    /// The image with every store so far. The durable image lacks the pending stores, each of which
    /// has the value that it replaced.
    image: Image,
    pending: PendingStores,
    findings: Vec<Finding>,
}

impl<'e> Simulator<'e> {
    /// Returns a run of `events` that found `initial` on the medium, all of it durable. Write-backs,
    /// fences and syncs of the site `dropped` have no effect, as if the program lacked them.
    pub fn new(initial: Image, events: &'e [Event], dropped: Option<Site>) -> Simulator<'e> {
        let pending = PendingStores::default();
        Simulator { events, position: 0, dropped, image: initial, pending, findings: Vec::new() }
    }

    /// Returns the number of events done.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Performs the next event, if there is one, and returns it.
    ///
    /// # Panics
    /// If it stores outside of its space. If it stores and its site is dropped: that would be
    /// another run.
    pub fn advance(&mut self) -> Option<&'e Event> {
        let event = self.events.get(self.position)?;
        self.pending.begin_event();
        if let Some(lint) = self.act(event) {
            self.findings.push(Finding { event: self.position, site: event.site, lint });
        }
        self.position += 1;
        Some(event)
    }

    /// Performs events until `position` are done, or all.
    ///
    /// # Panics
    /// Like [`advance`](Self::advance).
    pub fn advance_to(&mut self, position: usize) {
        while self.position < position && self.advance().is_some() {}
    }

    fn act(&mut self, event: &Event) -> Option<Lint> {
        let dropped = event.site.is_some() && event.site == self.dropped;
        match &event.action {
            Action::Store { .. } | Action::Publish { .. } if dropped => {
                panic!("{:?} stores: only write-backs, fences and syncs can be dropped", event.site)
            }
            Action::Store { at, words } => self.store(event, *at, words),
            Action::Publish { at, word } => {
                let lint = self.uncovered(event, *at);
                self.store(event, *at, &[*word]);
                return lint;
            }
            Action::WriteBack { .. } | Action::Fence | Action::Sync if dropped => {}
            Action::WriteBack { at, bytes } => {
                let dirty = self.pending.write_back(event.thread, event.space, *at..*at + *bytes);
                return (!dirty).then_some(Lint::CleanWriteBack);
            }
            Action::Fence => {
                let waited = self.pending.fence(event.thread);
                return (!waited).then_some(Lint::IdleFence);
            }
            Action::Sync => self.pending.sync(),
            Action::Note(_) => {}
        }
        None
    }

    fn store(&mut self, event: &Event, at: u64, words: &[u64]) {
        let space = event.space;
        let first = self.image.index(space, at, words.len());
        for (index, &after) in (first..).zip(words) {
            let before = self.image.replace(space, index, after);
            self.pending.store(event.thread, Change { space, index, before, after });
        }
    }

    fn uncovered(&self, event: &Event, at: u64) -> Option<Lint> {
        let published = (event.space, (at / WORD_BYTES) as usize);
        let (space, index) = self.pending.uncovered(event.thread, published)?;
        Some(Lint::Uncovered { space, at: index as u64 * WORD_BYTES })
    }

    /// Returns the amount that a power cut may lose.
    pub fn pending(&self) -> Pending {
        self.pending.count()
    }

    /// Returns the image that the program sees: with every store so far. If the memory of the run
    /// differs, a store bypassed the door.
    pub fn volatile(&self) -> &Image {
        &self.image
    }

    /// Returns at most `budget` images that a cut at this position may leave. Equal seeds give
    /// equal images.
    pub fn images(&mut self, model: Model, budget: usize, seed: u64) -> Images<'_> {
        let random = Random::new(seed.wrapping_add(self.position as u64));
        let mut overlay = Overlay::new(&mut self.image);
        self.pending.group(model, &mut overlay);
        Images::new(overlay, budget, random)
    }

    /// Returns the rules that were broken so far, in order.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Counts how often each rule was broken, by site.
    pub fn tally(&self) -> BTreeMap<(Option<Site>, &'static str), u64> {
        let mut tally = BTreeMap::new();
        for finding in &self.findings {
            *tally.entry((finding.site, finding.lint.name())).or_default() += 1;
        }
        tally
    }
}
