//! The arguments of `spirit completions`.

use clap_complete::Shell;

/// Prints a script that completes commands and options in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(spirit completions bash)             in ~/.bashrc
  spirit completions zsh > ~/.zfunc/_spirit     a folder of your $fpath
  spirit completions fish > ~/.config/fish/completions/spirit.fish";
