//! The terminal while `top` has it: keys come at once, and the lines before it come back in the end.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::flag;

use super::view::Line;
use crate::terminal;

/// The other screen, which has no history, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// The first column of the first line.
const HOME: &str = "\x1b[H";
/// Erases what is left of a line, and of the screen.
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
/// Lines and columns of a terminal that does not say how many it has.
const USUAL: (usize, usize) = (24, 80);

/// What the person before the terminal wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Quit,
    NextOrder,
    /// The size is another one.
    Redraw,
    /// The time is over.
    Nothing,
}

/// The terminal.
pub(crate) struct Screen {
    /// The state of the terminal before, if keys are read.
    before: Option<Termios>,
    is_bold: bool,
    ended: Arc<AtomicBool>,
    resized: Arc<AtomicBool>,
}

impl Screen {
    /// True if standard output is a terminal that can be drawn on.
    pub(crate) fn is_there() -> bool {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        io::stdout().is_terminal() && !is_dumb
    }

    /// Takes the terminal.
    pub(crate) fn take() -> io::Result<Screen> {
        let (ended, resized) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, ended.clone())?;
        }
        flag::register(SIGWINCH, resized.clone())?;
        let mut before = None;
        if io::stdin().is_terminal() {
            let state = tcgetattr(io::stdin())?;
            let mut raw = state.clone();
            raw.make_raw();
            tcsetattr(io::stdin(), OptionalActions::Flush, &raw)?;
            before = Some(state);
        }
        // NO_COLOR asks for plain text, so nothing is bold either.
        let is_bold = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let screen = Screen { before, is_bold, ended, resized };
        screen.write(ENTER)?;
        Ok(screen)
    }

    /// Draws lines, as many as fit.
    pub(crate) fn draw(&self, lines: &[Line]) -> io::Result<()> {
        let size = tcgetwinsize(io::stdout());
        let (rows, columns) = match size {
            Ok(size) if size.ws_row > 0 && size.ws_col > 0 => {
                (usize::from(size.ws_row), usize::from(size.ws_col))
            }
            _ => USUAL,
        };
        let mut text = HOME.to_owned();
        for (place, line) in lines.iter().take(rows).enumerate() {
            if place > 0 {
                text.push_str("\r\n");
            }
            let is_bold = line.is_head && self.is_bold;
            text.push_str(if is_bold { BOLD } else { "" });
            text.push_str(&terminal::cut(&line.text, columns));
            text.push_str(if is_bold { PLAIN } else { "" });
            text.push_str(REST_OF_LINE);
        }
        text.push_str(REST_OF_SCREEN);
        self.write(&text)
    }

    /// Waits for a key, a signal, or the end of this time.
    pub(crate) fn wait(&self, time: Duration) -> io::Result<Wish> {
        let end = Instant::now() + time;
        // Terminates: the time ends.
        loop {
            if self.ended.load(Relaxed) {
                return Ok(Wish::Quit);
            }
            if self.resized.swap(false, Relaxed) {
                return Ok(Wish::Redraw);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Wish::Nothing);
            }
            if let Some(wish) = self.key(left)? {
                return Ok(wish);
            }
        }
    }

    /// Waits for a key that means something.
    fn key(&self, time: Duration) -> io::Result<Option<Wish>> {
        let stdin = io::stdin();
        let mut files = [PollFd::new(&stdin, PollFlags::IN)];
        // Without keys, only the time and signals end the wait.
        let files = if self.before.is_some() { &mut files[..] } else { &mut [] };
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        match poll(files, Some(&time)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 64];
        // The library's own handle would keep what it has read.
        let read = rustix::io::read(&stdin, &mut bytes)?;
        // The other end of the terminal is gone.
        if read == 0 {
            return Ok(Some(Wish::Quit));
        }
        let wish = |byte: &u8| match byte {
            // Also what Ctrl-C and Ctrl-D send.
            b'q' | b'Q' | 3 | 4 => Some(Wish::Quit),
            b's' | b'S' => Some(Wish::NextOrder),
            _ => None,
        };
        Ok(bytes[..read].iter().find_map(wish))
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.write(LEAVE);
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, before);
        }
    }
}
