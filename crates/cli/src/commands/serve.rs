//! `spirit serve`: the indexes of a directory, over HTTP.

use std::io::Write;

use spirit_server::ServeError;
use spirit_server::settings::InForce;

use crate::args::ServeArgs;
use crate::failure::Failure;

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let settings = in_force(args)?.settings;
    let served = spirit_server::serve(settings, |url| {
        // The process that started it may not read that.
        let _ = writeln!(std::io::stdout(), "listening on {url}");
    });
    served.map_err(|error| match error {
        ServeError::Exposed { .. } | ServeError::Tls(_) => Failure::usage(error),
        _ => Failure::work(error),
    })
}

/// Returns the settings in force.
pub(super) fn in_force(args: &ServeArgs) -> Result<InForce, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    InForce::read(args.config.as_deref(), variable, &args.flags).map_err(Failure::usage)
}
