//! `spirit keys`: makes, lists and revokes the keys of a server.

use std::io::{Write, stdout};
use std::time::{Duration, UNIX_EPOCH};

use spirit_server::guard::{Key, KeyFile, KeysError, NewKey};

use crate::args::{CreateArgs, KeysArgs, KeysCommand, ListArgs, RevokeArgs};
use crate::failure::Failure;
use crate::note::note;

pub(crate) fn run(args: KeysArgs) -> Result<(), Failure> {
    match args.command {
        KeysCommand::Create(args) => create(args),
        KeysCommand::List(args) => list(&args),
        KeysCommand::Revoke(args) => revoke(&args),
    }
}

impl From<KeysError> for Failure {
    fn from(error: KeysError) -> Failure {
        Failure::work(error)
    }
}

fn create(args: CreateArgs) -> Result<(), Failure> {
    let CreateArgs { directory, scope, mut indexes, expires, name } = args;
    if indexes.is_empty() {
        indexes.push("*".to_owned());
    }
    let new = NewKey { name, scope, indexes, lives: expires };
    let (key, text) = new.make().map_err(Failure::usage)?;
    let (id, name, file) = (key.id.clone(), key.name.clone(), KeyFile::of(&directory));
    let is_first = file.read()?.is_none();
    let added = file.change(|keys| {
        let is_new = !keys.iter().any(|known| known.name == key.name);
        if is_new {
            keys.push(key);
        }
        is_new
    })?;
    if !added {
        return Err(Failure::usage(format_args!(
            "there is a key with the name {name:?}: choose another, or revoke it first"
        )));
    }
    writeln!(stdout(), "{text}")?;
    note(format_args!(
        "made the key {name:?} with the id {id}; keep it, nobody can print it again"
    ));
    if is_first {
        note(format_args!(
            "it is the first key: from now on the server of {} needs one in each request",
            directory.display()
        ));
    }
    Ok(())
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let Some(keys) = KeyFile::of(&args.directory).read()? else {
        note("there are no keys: the server answers everybody who reaches it");
        return Ok(());
    };
    if keys.is_empty() {
        note("all keys are revoked: the server answers nobody");
    }
    let mut out = stdout().lock();
    for key in &keys {
        let (created, expires) = (time(key.created), key.expires.map(time));
        if args.json {
            let Key { id, name, scope, indexes, .. } = key;
            let line = serde_json::json!({
                "id": id, "name": name, "scope": scope, "indexes": indexes, "created": created,
                "expires": expires, "expired": key.is_expired(),
            });
            writeln!(out, "{line}")?;
        } else {
            let expires = expires.unwrap_or_else(|| "never".to_owned());
            let state = if key.is_expired() { "expired" } else { "expires" };
            let indexes = key.indexes.join(",");
            writeln!(
                out,
                "{}  {:7}  {}  {state} {expires}  {indexes}  {}",
                key.id,
                key.scope.name(),
                created,
                key.name
            )?;
        }
    }
    Ok(())
}

fn time(seconds: u64) -> String {
    // Later times cannot be written.
    let seconds = seconds.min(253_402_300_799);
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

fn revoke(args: &RevokeArgs) -> Result<(), Failure> {
    let file = KeyFile::of(&args.directory);
    if file.read()?.is_none() {
        return Err(Failure::work(format_args!("{}: there are no keys", file.path().display())));
    }
    let is_it = |key: &Key, wanted: &String| key.id == *wanted || key.name == *wanted;
    let (unknown, left) = file.change(|keys| {
        let is_known = |wanted: &&String| keys.iter().any(|key| is_it(key, wanted));
        let unknown: Vec<_> =
            args.keys.iter().filter(|wanted| !is_known(wanted)).cloned().collect();
        if unknown.is_empty() {
            keys.retain(|key| !args.keys.iter().any(|wanted| is_it(key, wanted)));
        }
        (unknown, keys.len())
    })?;
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        return Err(Failure::work(format_args!(
            "no key has the id or name {unknown}: none is revoked"
        )));
    }
    if left == 0 {
        note("all keys are revoked: the server answers nobody");
    }
    Ok(())
}
