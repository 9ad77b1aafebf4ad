//! The binary: arguments in, exit code out.

use std::process::ExitCode;

/// A fold makes and drops a million small texts on two threads; the system's allocator costs it a quarter of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    host::cli::main(std::env::args_os())
}
