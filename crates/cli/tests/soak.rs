//! A soak: one server has every load at once, is restarted and killed, and keeps what it acknowledged.
//!
//! Clients write bulks, count up by updates, search, scroll and listen, in rounds. After each round the
//! server goes on, ends in an orderly way, or is killed. Then all that was acknowledged is there, and
//! nothing is there twice. Its memory, descriptors and threads stay within bounds, and no request fails.
//!
//! `SPIRIT_SOAK_SECONDS` says how long it takes, `SPIRIT_SOAK_SEED` what is drawn.

mod common;
mod serving;
mod soaking;
mod writing;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use common::{Folder, number_of};
use serving::Server;
use soaking::{Caller, Counters, Listener, Process, QUIET, Signals, UNDER_LOAD, look, scroll};
use spirit::lab::Random;
use writing::{Client, Way};

const SECONDS: u64 = 20;
const FLAGS: [&str; 10] = [
    "--dram",
    "256MiB",
    "--index-dram",
    "32MiB",
    "--index-nvm",
    "512MiB",
    "--query-threads",
    "2",
    "--ingest-threads",
    "2",
];
/// Documents of a client, beyond which it deletes its index and makes it again.
const DOCUMENTS_MAX: usize = 20_000;
/// The longest round.
const ROUND_MAX: Duration = Duration::from_secs(10);
/// The time between two looks at the process.
const LOOK: Duration = Duration::from_millis(100);

/// What happens to the server after a round.
#[derive(Clone, Copy, Debug)]
enum Fate {
    GoesOn,
    Ends,
    IsKilled,
}

/// All clients, with what they know.
struct Load {
    clients: Vec<Client>,
    counters: Counters,
    listener: Listener,
    random: Random,
    searches: AtomicU64,
    scrolls: AtomicU64,
}

impl Load {
    fn new(seed: u64) -> Load {
        let ways = [Way::Bulk, Way::Create, Way::Lines].into_iter().zip(0..);
        Load {
            clients: ways.map(|(way, number)| Client::new(seed, number, way)).collect(),
            counters: Counters::new(seed),
            listener: Listener::default(),
            random: Random::named(seed, "soak"),
            searches: AtomicU64::new(0),
            scrolls: AtomicU64::new(0),
        }
    }

    /// Puts the load on a server for a time, and then lets its fate come.
    fn round(&mut self, server: Server, time: Duration, fate: Fate) -> Option<Server> {
        let (signals, address) = (Signals::default(), server.url(""));
        let (looks, over) = (Random::named(self.random.next(), "looks"), AtomicBool::new(false));
        let (bare, process) = (server.address().to_owned(), Process(server.id()));
        std::thread::scope(|scope| {
            let (signals, address, over) = (&signals, &*address, &over);
            let is_enough = || signals.is_enough();
            for client in &mut self.clients {
                scope.spawn(move || {
                    let was_enough = client.write_until(address, &is_enough);
                    assert!(was_enough || signals.is_leaving(), "a bulk got no answer");
                });
            }
            let (counters, listener) = (&mut self.counters, &mut self.listener);
            let (searches, scrolls) = (&self.searches, &self.scrolls);
            let caller = || Caller::new(address, signals);
            scope.spawn(move || counters.count(&caller()));
            scope.spawn(move || listener.listen(&bare, "/api/v1/log-2/tail?q=*", signals));
            scope.spawn(move || searches.fetch_add(look(&caller(), looks), Relaxed));
            scope.spawn(move || scrolls.fetch_add(scroll(&caller(), "log-1"), Relaxed));
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    process.check(UNDER_LOAD);
                    std::thread::sleep(LOOK);
                }
            });
            std::thread::sleep(time);
            over.store(true, Relaxed);
            end(server, signals, fate)
        })
    }

    /// Checks what was written since the last check, some of the rest, and how much there is.
    fn check(&mut self, server: &Server) {
        for client in &mut self.clients {
            client.check(server);
            client.check_number(server);
        }
        self.counters.check(server);
        for (number, client) in self.clients.iter_mut().enumerate() {
            if client.begin_again_beyond(server, DOCUMENTS_MAX) && number == 2 {
                self.listener.begin_again();
            }
        }
    }
}

/// Lets a server's fate come while its clients ask. Returns it if it goes on.
fn end(server: Server, signals: &Signals, fate: Fate) -> Option<Server> {
    match fate {
        Fate::GoesOn => {
            signals.end();
            return Some(server);
        }
        Fate::Ends => {
            signals.leave();
            assert_eq!(server.end(), 0);
        }
        Fate::IsKilled => {
            signals.leave();
            server.kill();
        }
    }
    signals.end();
    None
}

#[test]
fn a_server_keeps_all_of_it_for_long() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let seconds = number_of("SPIRIT_SOAK_SECONDS").unwrap_or(SECONDS);
    let seed = number_of("SPIRIT_SOAK_SEED").unwrap_or(1);
    let over = Instant::now() + Duration::from_secs(seconds);
    let mut load = Load::new(seed);
    let mut random = Random::named(seed, "fates");
    let (mut rounds, mut running) = (0, None);
    // Each fate comes once at least, however short it is.
    let first = [Fate::IsKilled, Fate::GoesOn, Fate::Ends];
    while rounds < first.len() || Instant::now() < over {
        let server = running.take().unwrap_or_else(|| Server::start(&directory, &FLAGS));
        load.check(&server);
        Process(server.id()).check(QUIET);
        let most = ROUND_MAX.min(Duration::from_secs(seconds) / 6).as_millis() as u64;
        let time = Duration::from_millis(most / 4 + random.below(most * 3 / 4 + 1));
        let drawn = random.pick(&[Fate::IsKilled, Fate::GoesOn, Fate::GoesOn, Fate::Ends]);
        let fate = first.get(rounds).copied().unwrap_or(drawn);
        running = load.round(server, time, fate);
        rounds += 1;
    }
    let server = running.unwrap_or_else(|| Server::start(&directory, &FLAGS));
    load.clients.iter_mut().for_each(|client| client.check_all(&server));
    load.counters.check(&server);
    Process(server.id()).check(QUIET);
    assert_eq!(server.end(), 0);
    let acknowledged: u64 = load.clients.iter().map(|client| client.acknowledged).sum();
    let (searches, scrolls) = (load.searches.into_inner(), load.scrolls.into_inner());
    let (steps, heard) = (load.counters.steps, load.listener.documents);
    println!(
        "{rounds} rounds: {acknowledged} documents, {steps} updates, {searches} searches, {scrolls} scrolls, {heard} heard"
    );
    for (number, what) in [(acknowledged, "documents"), (steps, "updates"), (searches, "searches")]
    {
        assert!(number > 100, "{number} {what}: the test is not what it says");
    }
    assert!(scrolls > 0 && heard > 100, "{scrolls} scrolls, {heard} documents heard");
}
