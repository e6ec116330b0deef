//! What `spirit serve` and `spirit config` take: the server's settings, by their names.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, FromArgMatches, value_parser};
use spirit_server::settings::{SETTINGS, Setting};

/// The name of the option with the file.
const CONFIG: &str = "config";

/// The server's settings that were typed, and the file with others.
#[derive(Debug)]
pub(crate) struct ServeArgs {
    pub(crate) config: Option<PathBuf>,
    /// Names and values, as they were typed.
    pub(crate) flags: Vec<(&'static str, String)>,
}

impl clap::Args for ServeArgs {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new(CONFIG)
            .long(CONFIG)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Also read settings from this TOML file. The environment (SPIRIT_LISTEN and so on) is stronger than it, and options are stronger than both");
        SETTINGS.iter().fold(command.arg(config), |command, setting| command.arg(option(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn option(setting: &'static Setting) -> Arg {
    let Setting { name, value, default, help, .. } = setting;
    let option = Arg::new(*name).long(*name).value_name(*value);
    let option = match *default {
        "" => option.help(*help),
        default => option.help(format!("{help} [default: {default}]")),
    };
    match *name {
        "directory" => option.short('d'),
        "insecure" => option.num_args(0..=1).default_missing_value("yes"),
        _ => option,
    }
}

impl FromArgMatches for ServeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ServeArgs, clap::Error> {
        let typed = |setting: &Setting| {
            let value = matches.get_one::<String>(setting.name)?;
            Some((setting.name, value.clone()))
        };
        let flags = SETTINGS.iter().filter_map(typed).collect();
        Ok(ServeArgs { config: matches.get_one(CONFIG).cloned(), flags })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ServeArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
