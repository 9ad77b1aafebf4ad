# shellcheck shell=bash
# What the scripts share. Sourced, never run. Kept to bash 3.2, which is what macOS has.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
readonly root
manifest=$root/Cargo.toml
readonly manifest

case $(uname -s) in
  MINGW* | MSYS* | CYGWIN*) exe=.exe library_prefix='' library_suffix=.dll ;;
  Darwin) exe='' library_prefix=lib library_suffix=.dylib ;;
  *) exe='' library_prefix=lib library_suffix=.so ;;
esac
readonly exe library_prefix library_suffix

# Says something on the way. Data goes to stdout, this does not.
say() {
  printf '%s\n' "$*" >&2
}

# Ends the script: what failed, and what to do about it.
die() {
  printf 'ERROR %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf '  %s\n' "$@" >&2; fi
  exit 1
}

# Ends the script with the usage text of a caller that was used wrongly. The caller defines `usage`.
misuse() {
  printf 'ERROR %s\n\n' "$1" >&2
  usage >&2
  exit 2
}

# need COMMAND HOW-TO-GET-IT
need() {
  command -v "$1" >/dev/null 2>&1 || die "\`$1\` is missing." "$2"
}

need_rust() {
  need cargo "Install Rust (the version in Cargo.toml, rust-version, or later), for instance with rustup, and open a new shell."
}

need_build_tools() {
  need_rust
  if ! command -v "${CC:-cc}" >/dev/null 2>&1 && ! command -v gcc >/dev/null 2>&1 && ! command -v clang >/dev/null 2>&1 \
    && [ "$exe" = '' ]; then
    die 'a C compiler is missing (the allocator is written in C).' \
      'Install one: the package gcc or clang on Linux, the Xcode command line tools on macOS.'
  fi
}

need_python() {
  need python3 'Install Python 3.9 or later.'
}

# Prints the folder that cargo builds into: CARGO_TARGET_DIR, a configured one, or <root>/target.
target_dir() {
  local metadata folder
  metadata=$(cargo metadata --no-deps --format-version 1 --locked --manifest-path "$manifest") || return 1
  folder=$(printf '%s' "$metadata" | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
  [ -n "$folder" ] || return 1
  printf '%s\n' "$folder" | sed 's/\\\\/\//g'
}

# quietly COMMAND...: on a terminal the command shows its own progress, elsewhere its output is shown only if it fails.
quietly() {
  local log status=0
  if [ -t 2 ]; then
    "$@" >&2
    return
  fi
  log=$(mktemp "${TMPDIR:-/tmp}/host-build.XXXXXX")
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then cat "$log" >&2; fi
  rm -f "$log"
  return "$status"
}

# Builds the product in release mode and sets `release` to the folder with the binary and the plugins.
# Only the default members: the tests would switch on the host's fault points.
build_release() {
  local target
  need_build_tools
  quietly cargo build --release --locked --manifest-path "$manifest" || die 'the release build failed (output above).'
  target=$(target_dir) || die 'cargo does not say where it builds to.' "Try: cargo metadata --manifest-path $manifest"
  release=$target/release
  [ -x "$release/host$exe" ] || die "the build left no $release/host$exe." \
    'Is a build target configured (CARGO_BUILD_TARGET, build.target)? Unset it: the scripts build for this machine.'
}

# Prints the file name of each plugin library of the workspace.
plugin_libraries() {
  local folder name
  for folder in "$root"/plugins/*/; do
    grep -q cdylib "$folder/Cargo.toml" || continue
    name=$(basename "$folder")
    printf '%shost_%s%s\n' "$library_prefix" "$(printf '%s' "$name" | tr - _)" "$library_suffix"
  done
}

# ensure_tool CRATE: installs a cargo subcommand when there is none, at the version the project was tried with. A present
# one is used whatever its version.
# Little optimisation and no self-update: that takes a third off a build of many minutes, and the tools mostly wait for others.
ensure_tool() {
  local version features=''
  case $1 in
    cargo-nextest) version=0.9.151 features='--no-default-features --features default-no-update' ;;
    cargo-deny) version=0.20.2 ;;
    *) die "no version is set for $1 in scripts/lib.sh." ;;
  esac
  PATH=$PATH:${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}}/bin
  if ! command -v "$1" >/dev/null 2>&1; then
    say "installing $1 $version (once, some minutes)"
    # shellcheck disable=SC2086 # the features are words
    CARGO_PROFILE_RELEASE_OPT_LEVEL=1 quietly cargo install "$1" --version "$version" --locked $features \
      || die "$1 could not be installed (output above)." "Install it yourself: cargo install $1 --version $version --locked"
  fi
}
