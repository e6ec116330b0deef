//! `spirit top`: what a server, or an index in a directory, does now.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::args::TopArgs;
use crate::failure::Failure;
use crate::note::note;
use crate::output::out;
use crate::top::{Directory, Order, Sample, Screen, Server, Source, Trust, View, Wish};

/// The shortest time between two samples: a server has better things to do.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &TopArgs) -> Result<(), Failure> {
    if args.interval < INTERVAL_MIN {
        let least = humantime::format_duration(INTERVAL_MIN);
        return Err(Failure::usage(format_args!("--interval: expected {least} or more")));
    }
    let source = source(args)?;
    let shown = show(&source, args);
    source.close(shown)
}

fn source(args: &TopArgs) -> Result<Source, Failure> {
    if let Some(directory) = &args.directory {
        return Ok(Source::Directory(Directory::open(directory)?));
    }
    let key = args.key_file.as_deref().map(key_of).transpose()?;
    let trust = args.ca.clone().map_or(Trust::Usual, Trust::File);
    Ok(Source::Server(Server::at(&args.url, key, trust).map_err(Failure::usage)?))
}

fn show(source: &Source, args: &TopArgs) -> Result<(), Failure> {
    let first = source.sample().map_err(Failure::work)?;
    if args.once {
        return once(source, first, args);
    }
    if !Screen::is_there() {
        note("standard output is no terminal to draw on, so one table is printed, as by --once");
        return once(source, first, args);
    }
    again(source, first, args)
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

fn once(source: &Source, before: Sample, args: &TopArgs) -> Result<(), Failure> {
    std::thread::sleep(args.interval);
    let now = source.sample().map_err(Failure::work)?;
    let view = View { name: source.name(), before: &before, now: &now, order: args.sort };
    let mut out = out();
    for line in view.lines() {
        writeln!(out, "{}", line.text.trim_end())?;
    }
    Ok(out.flush()?)
}

/// Shows samples until the person has seen enough.
fn again(source: &Source, first: Sample, args: &TopArgs) -> Result<(), Failure> {
    let screen = Screen::take()?;
    let (mut before, mut now, mut failure) = (first.clone(), first, None);
    let mut order = args.sort;
    loop {
        draw(&screen, source, &before, &now, order, failure.as_deref())?;
        match screen.wait(args.interval)? {
            Wish::Quit => return Ok(()),
            Wish::NextOrder => order = order.next(),
            Wish::Redraw => {}
            Wish::Nothing => match source.sample() {
                Ok(sample) => (before, now, failure) = (now, sample, None),
                // It may come again. The figures before stay.
                Err(why) => failure = Some(why),
            },
        }
    }
}

fn draw(
    screen: &Screen,
    source: &Source,
    before: &Sample,
    now: &Sample,
    order: Order,
    failure: Option<&str>,
) -> Result<(), Failure> {
    let mut lines = View { name: source.name(), before, now, order }.lines();
    if let (Some(why), Some(first)) = (failure, lines.first_mut()) {
        first.text = crate::terminal::one_line(why);
        first.is_head = true;
    }
    Ok(screen.draw(&lines)?)
}
