//! The arguments of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe completions bash > ~/.local/share/bash-completion/completions/sememe
  sememe completions zsh > ~/.zfunc/_sememe                      (with ~/.zfunc in $fpath)
  sememe completions fish > ~/.config/fish/completions/sememe.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe man | man -l -
  sememe man ~/.local/share/man/man1                             (then: man sememe-align)")]
pub struct Man {
    /// Write the pages of all commands into this folder, which is created if necessary [default: print the main page]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}
