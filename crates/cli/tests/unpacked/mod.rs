//! Programs of Debian packages that are unpacked below the build's folder, without root.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The shippers, and the libraries that a bare machine does not have.
const PACKAGES: [&str; 13] = [
    "libcurl4",
    "libestr0",
    "libfastjson4",
    "libivykis0",
    "libjson-c5",
    "liblognorm5",
    "libnet1",
    "libpcre3",
    "libwrap0",
    "rsyslog",
    "rsyslog-elasticsearch",
    "syslog-ng-core",
    "syslog-ng-mod-http",
];

/// Where libraries are, below the root.
const LIBRARIES: [&str; 3] =
    ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/syslog-ng"];

/// Returns the folder with the packages' files.
pub(crate) fn root() -> PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(unpack).clone()
}

fn unpack() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unpacked");
    let (root, mark) = (home.join("root"), home.join("packages"));
    let wanted = PACKAGES.join(" ");
    if std::fs::read_to_string(&mark).unwrap_or_default() == wanted {
        return root;
    }
    std::fs::create_dir_all(home.join("state/lists/partial")).unwrap();
    std::fs::create_dir_all(home.join("cache/archives/partial")).unwrap();
    // The machine's own lists are used if there are any; else lists of our own are fetched.
    if !apt(&home, &[], "download", &PACKAGES) {
        let state = format!("Dir::State={}", home.join("state").display());
        let cache = format!("Dir::Cache={}", home.join("cache").display());
        let own = ["-o", &state, "-o", &cache, "-o", "Dir::State::status=/var/lib/dpkg/status"];
        assert!(apt(&home, &own, "update", &[]), "apt-get update");
        assert!(apt(&home, &own, "download", &PACKAGES), "apt-get download");
    }
    for entry in std::fs::read_dir(&home).unwrap().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|end| end == "deb") {
            let unpacked = Command::new("dpkg").arg("-x").arg(entry.path()).arg(&root).status();
            assert!(unpacked.unwrap().success(), "{:?}", entry.path());
        }
    }
    std::fs::write(mark, wanted).unwrap();
    root
}

/// True if it ended well.
fn apt(home: &Path, options: &[&str], action: &str, packages: &[&str]) -> bool {
    let mut apt = Command::new("apt-get");
    apt.arg("-qq").args(options).arg(action).args(packages).current_dir(home);
    apt.status().is_ok_and(|status| status.success())
}

/// Returns a command that finds the packages' libraries.
pub(crate) fn command(root: &Path, program: &str) -> Command {
    let libraries: Vec<_> =
        LIBRARIES.iter().map(|folder| root.join(folder).display().to_string()).collect();
    let mut command = Command::new(root.join(program));
    command.env("LD_LIBRARY_PATH", libraries.join(":"));
    command
}
