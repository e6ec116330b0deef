//! Options of `ingest` from a TOML file: the same names; what was typed wins.

use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use spirit_forms::schema::Fields;
use toml::Value;

use crate::args::{CacheArgs, IndexArgs, IngestArgs, PipelineArgs, ReadingArgs, TierArgs};
use crate::failure::Failure;
use crate::schema;

/// Fills in what was not typed from the file at `path`.
pub(crate) fn fill(args: &mut IngestArgs, path: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    let invalid = |reason: &str| Failure::usage(format!("{}: {reason}", path.display()));
    let table = schema::toml_table(&text)
        .map_err(|reason| Failure::usage(format!("{}{reason}", path.display())))?;
    let typed = args.index.schema.take();
    let mut listed = Fields::default();
    for (key, value) in &table {
        if let ("fields", Value::Table(fields)) = (key.as_str(), value) {
            listed = schema::of_table(fields).map_err(|reason| invalid(&reason))?;
            continue;
        }
        let text = text_of(value).ok_or_else(|| {
            invalid(&format!("`{key}`: expected a string, an integer or a boolean"))
        })?;
        match set(args, key, &text) {
            None => return Err(invalid(&format!("unknown key `{key}`"))),
            Some(Err(reason)) => return Err(invalid(&format!("`{key}`: {reason}"))),
            Some(Ok(())) => {}
        }
    }
    // What the file says of fields is one list, whichever way it says so.
    let listed = args.index.schema.take().unwrap_or_default().with(listed);
    let listed = listed.map_err(|reason| invalid(&format!("`schema` and [fields]: {reason}")))?;
    args.index.schema = Some(typed.unwrap_or(listed));
    Ok(())
}

/// A value as it would be typed.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(yes) => Some(if *yes { "yes" } else { "no" }.into()),
        _ => None,
    }
}

/// Sets the option `key`, unless it was typed. `None`: there is no such option.
fn set(args: &mut IngestArgs, key: &str, value: &str) -> Option<Result<(), String>> {
    Some(match key {
        "directory" => parsed(&mut args.directory, value),
        "ack" => flag(&mut args.ack, value),
        "rejects" => parsed(&mut args.rejects, value),
        "progress" => flag(&mut args.progress, value),
        _ => {
            return set_reading(&mut args.reading, key, value)
                .or_else(|| set_index(&mut args.index, key, value))
                .or_else(|| set_tier(&mut args.tier, key, value));
        }
    })
}

fn set_reading(args: &mut ReadingArgs, key: &str, value: &str) -> Option<Result<(), String>> {
    Some(match key {
        "format" => choice(&mut args.format, value),
        "delimiter" => parsed(&mut args.delimiter, value),
        "record-start" => parsed(&mut args.record_start, value),
        "text-field" => {
            if args.text_field.is_empty() {
                args.text_field = value.split(',').map(str::to_owned).collect();
            }
            Ok(())
        }
        "strict" => flag(&mut args.strict, value),
        _ => return None,
    })
}

fn set_index(args: &mut IndexArgs, key: &str, value: &str) -> Option<Result<(), String>> {
    Some(match key {
        "analyzer" => parsed(&mut args.analyzer, value),
        "dram" => parsed(&mut args.dram, value),
        "dictionary" => choice(&mut args.dictionary, value),
        "verify" => choice(&mut args.verify, value),
        "segment" => parsed(&mut args.segment, value),
        "executors" => parsed(&mut args.executors, value),
        "positions" => choice(&mut args.positions, value),
        "store" => choice(&mut args.store, value),
        "postings" => choice(&mut args.postings, value),
        "schema" => schema::fields(value).map(|fields| {
            args.schema.get_or_insert(fields);
        }),
        "strict-schema" => flag(&mut args.strict_schema, value),
        "on-full" => choice(&mut args.on_full, value),
        "retain" => parsed(&mut args.retain, value),
        key => return set_cache(&mut args.cache, key, value),
    })
}

fn set_cache(args: &mut CacheArgs, key: &str, value: &str) -> Option<Result<(), String>> {
    Some(match key {
        "cache" => parsed(&mut args.cache, value),
        "cache-policy" => choice(&mut args.cache_policy, value),
        "cache-allocator" => choice(&mut args.cache_allocator, value),
        "cache-match" => choice(&mut args.cache_match, value),
        "cache-tier" => choice(&mut args.cache_tier, value),
        "caches" => parsed(&mut args.caches, value),
        "cache-entries" => parsed(&mut args.cache_entries, value),
        "cache-min" => parsed(&mut args.cache_min, value),
        "cache-cost" => parsed(&mut args.cache_cost, value),
        _ => return None,
    })
}

fn set_tier(args: &mut TierArgs, key: &str, value: &str) -> Option<Result<(), String>> {
    Some(match key {
        "mode" => choice(&mut args.mode, value),
        "durability" => choice(&mut args.durability, value),
        "group-wait" => parsed(&mut args.group_wait, value),
        // The old name, in milliseconds.
        "group-ms" => parsed(&mut args.group_wait, &format!("{value}ms")),
        "group-bytes" => parsed(&mut args.group_bytes, value),
        "merge-after" => parsed(&mut args.merge_after, value),
        "reserve" => choice(&mut args.reserve, value),
        "nvm" => parsed(&mut args.nvm, value),
        key => return set_pipeline(&mut args.pipeline, key, value),
    })
}

fn set_pipeline(args: &mut PipelineArgs, key: &str, value: &str) -> Option<Result<(), String>> {
    Some(match key {
        "engrave" => choice(&mut args.engrave, value),
        "pointer-update" => choice(&mut args.pointer_update, value),
        "blocks" => choice(&mut args.blocks, value),
        "stage-threads" => parsed(&mut args.stage_threads, value),
        "dram-short" => parsed(&mut args.dram_short, value),
        "dram-long" => parsed(&mut args.dram_long, value),
        "dram-dictionary" => parsed(&mut args.dram_dictionary, value),
        "nvm-short" => parsed(&mut args.nvm_short, value),
        "nvm-long" => parsed(&mut args.nvm_long, value),
        "nvm-dictionary" => parsed(&mut args.nvm_dictionary, value),
        _ => return None,
    })
}

fn flag(slot: &mut bool, value: &str) -> Result<(), String> {
    match value {
        "yes" => *slot = true,
        "no" => {}
        _ => return Err(format!("`{value}` is neither true nor false")),
    }
    Ok(())
}

fn parsed<T: FromStr<Err: ToString>>(slot: &mut Option<T>, value: &str) -> Result<(), String> {
    let value = value.parse().map_err(|error: T::Err| error.to_string())?;
    slot.get_or_insert(value);
    Ok(())
}

fn choice<T: ValueEnum>(slot: &mut Option<T>, value: &str) -> Result<(), String> {
    let chosen = T::from_str(value, false).map_err(|_| {
        let possible = T::value_variants().iter().filter_map(T::to_possible_value);
        let names: Vec<_> = possible.map(|value| value.get_name().to_owned()).collect();
        format!("`{value}`: choose one of {}", names.join(", "))
    })?;
    slot.get_or_insert(chosen);
    Ok(())
}
