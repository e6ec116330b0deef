//! A terminal with a program before it, and what it shows.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::common::command;

/// Both ends of a new terminal: ours, and a program's.
pub(crate) fn pair() -> (File, File) {
    let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&main).unwrap();
    unlockpt(&main).unwrap();
    let name = ptsname(&main, Vec::new()).unwrap();
    let program = File::options()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NOCTTY.bits().cast_signed())
        .open(OsStr::from_bytes(name.to_bytes()))
        .unwrap();
    (File::from(main), program)
}

/// A terminal, with a program before it.
pub(crate) struct Terminal {
    pub(crate) main: File,
    pub(crate) child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    pub(crate) fn start(args: &[&str], rows: u16, columns: u16, no_color: bool) -> Terminal {
        let (main, program) = pair();
        let mut spirit = command(args);
        spirit.env("TERM", "xterm").env_remove("NO_COLOR");
        if no_color {
            spirit.env("NO_COLOR", "1");
        }
        let input = program.try_clone().unwrap();
        spirit.stdin(input).stdout(program).stderr(Stdio::inherit());
        let terminal = Terminal::size(&main, rows, columns);
        let child = spirit.spawn().unwrap();
        let shown = Arc::<Mutex<Vec<u8>>>::default();
        let (mut reader, kept) = (terminal.try_clone().unwrap(), shown.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                kept.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        Terminal { main: terminal, child, shown }
    }

    pub(crate) fn size(main: &File, rows: u16, columns: u16) -> File {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(main, size).unwrap();
        main.try_clone().unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Waits for a text that is shown from a place on. Returns all that is shown then.
    pub(crate) fn wait_for(&self, from: usize, what: &str) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let text = self.text();
            if text.get(from..).is_some_and(|text| text.contains(what)) {
                return text;
            }
            assert!(Instant::now() < end, "{what:?} does not appear in {:?}", &text[from..]);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.main.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end. Returns its code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}
