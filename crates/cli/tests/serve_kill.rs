//! `spirit serve` is killed at any moment while clients write bulks: what was acknowledged is there
//! afterwards, byte for byte; what was not is whole or absent.
//!
//! `SPIRIT_SERVER_KILLS` says how many kills there are, `SPIRIT_KILL_SEED` which bulks are written.
//! When exactly a kill comes is the machine's doing.

mod common;
mod serving;
mod writing;

use std::time::Duration;

use common::{Folder, number_of};
use serving::Server;
use spirit::lab::Random;
use writing::{Client, Way};

const KILLS: u64 = 24;

#[test]
fn acknowledged_bulks_survive_kills() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let seed = number_of("SPIRIT_KILL_SEED").unwrap_or(1);
    let mut clients: Vec<Client> = [Way::Bulk, Way::Bulk, Way::Create, Way::Lines]
        .into_iter()
        .zip(0..)
        .map(|(way, number)| Client::new(seed, number, way))
        .collect();
    let mut random = Random::named(seed, "kills");
    for _ in 0..number_of("SPIRIT_SERVER_KILLS").unwrap_or(KILLS) {
        if random.one_in(5) {
            // It may be within the start.
            let server = Server::start_unready(&directory, &[]);
            std::thread::sleep(Duration::from_micros(random.below(30_000)));
            server.kill();
        }
        let server = Server::start(&directory, &[]);
        clients.iter_mut().for_each(|client| client.check(&server));
        let address = server.url("");
        std::thread::scope(|scope| {
            for client in &mut clients {
                let address = address.as_str();
                scope.spawn(move || client.write(address));
            }
            std::thread::sleep(Duration::from_micros(random.below(400_000)));
            server.kill();
        });
    }
    let server = Server::start(&directory, &[]);
    clients.iter_mut().for_each(|client| client.check_all(&server));
    let acknowledged: u64 = clients.iter().map(|client| client.acknowledged).sum();
    let unknown: u64 = clients.iter().map(|client| client.unknown).sum();
    assert!(acknowledged > 500, "{acknowledged} documents: the test is not what it says");
    assert!(unknown > 0, "no bulk was under way at any kill: the test is not what it says");
    assert_eq!(server.end(), 0);
}
