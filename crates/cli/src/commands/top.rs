//! `spirit top`: what a server does now.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::args::TopArgs;
use crate::failure::Failure;
use crate::note::note;
use crate::output::out;
use crate::top::{Order, Sample, Screen, Server, Trust, View, Wish};

/// The shortest time between two samples: a server has better things to do.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &TopArgs) -> Result<(), Failure> {
    if args.interval < INTERVAL_MIN {
        let least = humantime::format_duration(INTERVAL_MIN);
        return Err(Failure::usage(format_args!("--interval: expected {least} or more")));
    }
    let key = args.key_file.as_deref().map(key_of).transpose()?;
    let trust = args.ca.clone().map_or(Trust::Usual, Trust::File);
    let server = Server::at(&args.url, key, trust).map_err(Failure::usage)?;
    let first = server.sample().map_err(Failure::work)?;
    if args.once {
        return once(&server, first, args);
    }
    if !Screen::is_there() {
        note("standard output is no terminal to draw on, so one table is printed, as by --once");
        return once(&server, first, args);
    }
    again(&server, first, args)
}

/// Reads a key from its file.
fn key_of(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    let key = text.trim();
    if key.is_empty() || key.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let path = path.display();
        return Err(Failure::usage(format_args!("{path}: expected a key alone, on one line")));
    }
    Ok(key.to_owned())
}

fn once(server: &Server, before: Sample, args: &TopArgs) -> Result<(), Failure> {
    std::thread::sleep(args.interval);
    let now = server.sample().map_err(Failure::work)?;
    let view = View { url: server.url(), before: &before, now: &now, order: args.sort };
    let mut out = out();
    for line in view.lines() {
        writeln!(out, "{}", line.text.trim_end())?;
    }
    Ok(out.flush()?)
}

/// Shows samples until the person has seen enough.
fn again(server: &Server, first: Sample, args: &TopArgs) -> Result<(), Failure> {
    let screen = Screen::take()?;
    let (mut before, mut now, mut failure) = (first.clone(), first, None);
    let mut order = args.sort;
    loop {
        draw(&screen, server, &before, &now, order, failure.as_deref())?;
        match screen.wait(args.interval)? {
            Wish::Quit => return Ok(()),
            Wish::NextOrder => order = order.next(),
            Wish::Redraw => {}
            Wish::Nothing => match server.sample() {
                Ok(sample) => (before, now, failure) = (now, sample, None),
                // The server may come again. The figures before stay.
                Err(why) => failure = Some(why),
            },
        }
    }
}

fn draw(
    screen: &Screen,
    server: &Server,
    before: &Sample,
    now: &Sample,
    order: Order,
    failure: Option<&str>,
) -> Result<(), Failure> {
    let mut lines = View { url: server.url(), before, now, order }.lines();
    if let (Some(why), Some(first)) = (failure, lines.first_mut()) {
        first.text = crate::terminal::one_line(why);
        first.is_head = true;
    }
    Ok(screen.draw(&lines)?)
}
