//! What an index was made with, and what the options say of it: an index stays as it was made, so an option that says
//! otherwise is a mistake.

use std::fmt::Display;
use std::path::Path;

use clap::ValueEnum;
use spirit::Index;
use spirit::lab::PAGE;
use spirit::settings::Settings;
use spirit_forms::size::Size;

use crate::args::{IndexArgs, TierArgs};
use crate::choice::{OnFullName, YesNo};
use crate::failure::Failure;
use crate::note::note;

/// An option that was typed: its name, and what it says if that is not what the index was made with.
type Compared = (&'static str, Option<(String, String)>);

/// Compares the options typed with the index, which was there before.
pub(crate) fn check(
    index: &Index,
    directory: &Path,
    args: &IndexArgs,
    tier: &TierArgs,
) -> Result<(), Failure> {
    let name = directory.display();
    let options = of_index(&index.settings(), args).into_iter().chain(of_tier(index, args, tier));
    let options = options.chain(of_schema(index, args)).chain(of_parts(index, tier));
    for (option, differing) in options {
        if let Some((asked, made)) = differing {
            let typed = format!("{option} {asked}");
            let typed = typed.trim_end();
            return Err(Failure::usage(format_args!(
                "{typed}: the index in {name} was made with {made}, which cannot change; leave the \
                 option out"
            )));
        }
    }
    if tier.reserve.is_some() {
        note(format_args!("--reserve: ignored; the index in {name} exists already"));
    }
    Ok(())
}

/// Names the fields in the options of an asking command that the index lacks.
pub(crate) fn tell_of_missing_fields(index: &Index, directory: &Path, args: &IndexArgs) {
    let schema = index.schema();
    let analyzer = index.settings().analyzer;
    let asked = args.schema.iter().flat_map(|fields| fields.kinds(analyzer));
    for (name, kind) in asked.filter(|(name, _)| schema.by_name(name).is_none()) {
        let index = directory.display();
        note(format_args!(
            "--schema {name}:{kind}: ignored; the index in {index} has no such field, and only \
             `spirit ingest` adds fields"
        ));
    }
}

/// The first field that is of another kind. One that is not there joins the others.
fn of_schema(index: &Index, args: &IndexArgs) -> [Compared; 2] {
    let schema = index.schema();
    let analyzer = index.settings().analyzer;
    let asked = args.schema.iter().flat_map(|fields| fields.kinds(analyzer));
    let mut both = asked.filter_map(|(name, kind)| Some((name, kind, schema.by_name(name)?.kind)));
    let other = both.find(|(_, asked, made)| asked != made);
    let field =
        other.map(|(name, asked, made)| (format!("{name}:{asked}"), format!("{name}:{made}")));
    let dynamic = args.strict_schema && schema.is_dynamic();
    let strict = dynamic.then(|| (String::new(), "no --strict-schema".to_owned()));
    [("--schema", field), ("--strict-schema", strict)]
}

fn of_index(made: &Settings, args: &IndexArgs) -> [Compared; 7] {
    let yes_no = |yes| if yes { YesNo::Yes } else { YesNo::No };
    let (positions, store) = (yes_no(made.positions), yes_no(made.store));
    let on_full = OnFullName::from(made.on_full);
    let segment = args.segment.zip(Some(Size(made.segment_bytes)));
    [
        ("--executors", differing(args.executors.zip(Some(made.executors)))),
        ("--analyzer", differing(args.analyzer.zip(Some(made.analyzer)))),
        ("--segment", differing(segment)),
        ("--positions", differing(args.positions.map(|p| (word(p), word(positions))))),
        ("--store", differing(args.store.map(|s| (word(s), word(store))))),
        ("--on-full", differing(args.on_full.map(|o| (word(o), word(on_full))))),
        ("--retain", differing(args.retain.map(|asked| (asked.to_string(), retained(made))))),
    ]
}

fn of_tier(index: &Index, args: &IndexArgs, tier: &TierArgs) -> [Compared; 3] {
    let made = index.settings();
    // The engine divides the tier among the executors: what it made of the size is compared.
    let asked = tier.added_to(args.options()).executors(made.executors);
    let nvm = tier.nvm.map(|_| (Size(asked.nvm_bytes_in_all()), Size(made.nvm_bytes)));
    [
        ("--mode", differing(tier.mode.map(Into::into).zip(Some(made.mode)))),
        ("--durability", differing(tier.durability.map(Into::into).zip(Some(made.durability)))),
        ("--nvm", differing(nvm)),
    ]
}

/// The sizes of the file's parts.
fn of_parts(index: &Index, tier: &TierArgs) -> [Compared; 3] {
    let executors = index.settings().executors as u64;
    let memory = index.memories().next();
    let made = memory.and_then(|memory| memory.geometry().settings.nvm).unwrap_or_default().parts;
    // Each executor has whole pages.
    let asked = tier.pipeline.nvm_parts().each(executors).map(|bytes| bytes.next_multiple_of(PAGE));
    let part = |asked: u64, made: u64| {
        let size = |bytes: u64| match bytes {
            0 => "its share of the file".to_owned(),
            bytes => Size(bytes * executors).to_string(),
        };
        (asked != 0 && asked != made).then(|| (size(asked), size(made)))
    };
    [
        ("--nvm-short", part(asked.short, made.short)),
        ("--nvm-long", part(asked.long, made.long)),
        ("--nvm-dictionary", part(asked.dictionary, made.dictionary)),
    ]
}

/// How long documents are kept.
fn retained(made: &Settings) -> String {
    let time = |age| humantime::format_duration(age).to_string();
    made.retain.map_or("no --retain".into(), time)
}

/// What was asked for and what was made, if they are not the same.
fn differing<T: PartialEq + Display>(both: Option<(T, T)>) -> Option<(String, String)> {
    both.filter(|(asked, made)| asked != made)
        .map(|(asked, made)| (asked.to_string(), made.to_string()))
}

/// A choice as it is typed.
fn word(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
