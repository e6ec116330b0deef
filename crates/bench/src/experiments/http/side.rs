//! The two sides: our server and OpenSearch, each asked by the same client.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use tokio::runtime::{Builder, Runtime};

use super::client::Connection;
use super::documents::{INDEX, MAKE};
use super::server::Server;
use crate::Fallible;
use crate::bench::Bench;
use crate::cores::Cores;
use crate::peers::{Peers, System};
use crate::scratch::Scratch;

/// DRAM of our index, as much as the heap of OpenSearch.
const DRAM: &str = "1GiB";
/// Our second tier, whose file grows as it is needed.
const NVM: &str = "24GiB";
/// The time in which an index answers after a start.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server, and the client that asks it.
pub(super) struct Side {
    pub(super) name: &'static str,
    pub(super) is_ours: bool,
    server: Server,
    scratch: Scratch,
    client: Rc<Runtime>,
}

/// What is known of both sides, or why nothing is of the other.
pub(super) struct Both<T> {
    pub(super) ours: T,
    pub(super) theirs: Result<T, String>,
}

/// Our server, and OpenSearch if it could be started.
pub(super) type Sides = Both<Side>;

impl<T> Both<T> {
    /// How many times as large a figure of ours is as theirs.
    pub(super) fn ratio(&self, figure: impl Fn(&T) -> f64) -> Result<f64, String> {
        let theirs = self.theirs.as_ref().map_err(String::clone)?;
        Ok(figure(&self.ours) / figure(theirs))
    }

    /// How many times as large their figure is as ours: of times, how many times as fast we are.
    pub(super) fn inverse(&self, figure: impl Fn(&T) -> f64) -> Result<f64, String> {
        self.ratio(figure).map(f64::recip)
    }

    /// Both names, with what is known of them.
    pub(super) fn named(&self) -> [(&'static str, Result<&T, &String>); 2] {
        let theirs = System::OpenSearch.name();
        [("spirit", Ok(&self.ours)), (theirs, self.theirs.as_ref())]
    }
}

impl Sides {
    /// Starts both.
    pub(super) fn start(bench: &mut Bench) -> Fallible<Sides> {
        let client = Rc::new(Builder::new_current_thread().enable_all().build()?);
        let ours = Side::start(&mut bench.peers, bench.cores, true, &client)?;
        let theirs = match bench.peers.wants(System::OpenSearch) {
            true => Side::start(&mut bench.peers, bench.cores, false, &client),
            false => Err("not asked for".to_owned()),
        };
        if let Err(reason) = &theirs {
            println!("{}: not measured: {reason}", System::OpenSearch.name());
        }
        Ok(Sides { ours, theirs })
    }

    /// Measures ours, then the other.
    pub(super) fn each<T>(
        &mut self,
        mut measure: impl FnMut(&mut Side) -> Result<T, String>,
    ) -> Result<Both<T>, String> {
        let of = |side: &Side, why: String| format!("{}: {why}", side.name);
        let ours = measure(&mut self.ours).map_err(|why| of(&self.ours, why))?;
        let theirs = match &mut self.theirs {
            Ok(side) => Ok(measure(side).map_err(|why| of(side, why))?),
            Err(reason) => Err(reason.clone()),
        };
        Ok(Both { ours, theirs })
    }

    /// Measures in turns, each side once a round.
    pub(super) fn rounds<T>(
        &mut self,
        rounds: usize,
        mut measure: impl FnMut(&mut Side) -> Result<T, String>,
    ) -> Result<Both<Vec<T>>, String> {
        let absent = self.theirs.as_ref().err().cloned();
        let mut all = Both { ours: Vec::new(), theirs: absent.map_or(Ok(Vec::new()), Err) };
        for _ in 0..rounds {
            let Both { ours, theirs } = self.each(&mut measure)?;
            all.ours.push(ours);
            if let (Ok(all), Ok(theirs)) = (&mut all.theirs, theirs) {
                all.push(theirs);
            }
        }
        Ok(all)
    }

    /// Ends both in order.
    pub(super) fn end(self) -> Result<(), String> {
        self.ours.server.end()?;
        self.theirs.map_or(Ok(()), |side| side.server.end())
    }
}

impl Side {
    fn start(
        peers: &mut Peers,
        cores: Cores,
        is_ours: bool,
        client: &Rc<Runtime>,
    ) -> Result<Side, String> {
        let scratch = Scratch::on_disk().map_err(|error| error.to_string())?;
        let command = command(peers, is_ours, scratch.path())?;
        let server = Server::start(command, scratch.path(), cores)?;
        let name = if is_ours { "spirit" } else { System::OpenSearch.name() };
        Ok(Side { name, is_ours, server, scratch, client: client.clone() })
    }

    /// Ends the server and starts it anew on the same data. Returns the seconds from its start until
    /// its index answers a search.
    pub(super) fn restart(self, peers: &mut Peers, cores: Cores) -> Result<(Side, f64), String> {
        let Side { name, is_ours, server, scratch, client } = self;
        server.end()?;
        let command = command(peers, is_ours, scratch.path())?;
        let server = Server::start(command, scratch.path(), cores)?;
        let side = Side { name, is_ours, server, scratch, client };
        let seconds = side.run(side.until_it_answers())?;
        Ok((side, seconds))
    }

    async fn until_it_answers(&self) -> Result<f64, String> {
        let path = format!("/{INDEX}/_search?size=1");
        let mut connection = Connection::open(self.server.address).await?;
        loop {
            let answer = connection.ask(Method::GET, &path, Bytes::new()).await?;
            let passed = self.server.started.elapsed();
            if answer.status.is_success() {
                return Ok(passed.as_secs_f64());
            }
            if passed > PATIENCE {
                return Err(format!("the index does not answer: {}", answer.status));
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Runs a part of the client to its end.
    pub(super) fn run<F: Future>(&self, part: F) -> F::Output {
        self.client.block_on(part)
    }

    /// Makes the index, an earlier one of its name being deleted.
    pub(super) async fn make_index(&self) -> Result<(), String> {
        let mut connection = self.connect().await?;
        let path = format!("/{INDEX}");
        let deleted = connection.ask(Method::DELETE, &path, Bytes::new()).await?;
        if !deleted.status.is_success() && deleted.status != 404 {
            return Err(format!("DELETE {path}: {}", deleted.status));
        }
        connection.must(Method::PUT, &path, Bytes::from_static(MAKE.as_bytes())).await?;
        Ok(())
    }

    /// Makes all documents visible, and checks their number.
    pub(super) async fn must_have(&self, documents: usize) -> Result<(), String> {
        let mut connection = self.connect().await?;
        connection.json(Method::POST, &format!("/{INDEX}/_refresh"), "").await?;
        let counted = connection.json(Method::GET, &format!("/{INDEX}/_count"), "").await?;
        match counted["count"].as_u64() {
            Some(count) if count == documents as u64 => Ok(()),
            other => Err(format!("{documents} documents were sent, and {other:?} are there")),
        }
    }

    pub(super) async fn connect(&self) -> Result<Connection, String> {
        Connection::open(self.server.address).await
    }

    pub(super) async fn connect_all(&self, number: usize) -> Result<Vec<Connection>, String> {
        Connection::open_all(self.server.address, number).await
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// The directory of our index, which a reader of this process can open beside the server.
    pub(super) fn index_folder(&self) -> PathBuf {
        self.scratch.path().join(INDEX)
    }
}

/// The command that starts a side. Ours syncs each acknowledged bulk to the disk, as OpenSearch's
/// translog does by default.
fn command(peers: &mut Peers, is_ours: bool, folder: &Path) -> Result<Command, String> {
    if !is_ours {
        return peers.open_search(folder);
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = program.with_file_name("spirit");
    if !program.is_file() {
        let program = program.display();
        return Err(format!("{program}: missing; cargo build --release -p spirit-cli"));
    }
    let mut command = Command::new(program);
    command.arg("serve").arg("-d").arg(folder).args(["--listen", "127.0.0.1:0"]);
    command.args(["--durability", "os", "--dram", DRAM, "--index-dram", DRAM]);
    command.args(["--nvm", NVM, "--index-nvm", NVM]);
    // OpenSearch has no limit by default. A search that waits behind 63 slow ones is one too.
    command.args(["--query-timeout", "60s"]);
    Ok(command)
}
