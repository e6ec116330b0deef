#!/bin/sh
# Which lines of recovery no simulated power cut reaches: prints each, with its file. What is left should be what only a
# damaged file leads to (the damage tests go there), and what waits for room that a shrunken heap always has.
#
# Needs llvm-profdata and llvm-cov of the compiler's LLVM version, in the PATH or with that version behind their names; else
# it ends with status 77. SPIRIT_CUTS says how many cuts: 1,500 take about seven minutes.
set -eu
cd "$(dirname "$0")/.."

llvm="$(rustc --version --verbose | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')"
tool() {
    for name in "$1-$llvm" "$1"; do
        if "$name" --version 2>/dev/null | grep -q "version $llvm\."; then
            echo "$name"
            return
        fi
    done
    echo "coverage: $1 of LLVM $llvm is not installed" >&2
    exit 77
}
profdata="$(tool llvm-profdata)"
cov="$(tool llvm-cov)"

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/coverage"
export RUSTFLAGS="${RUSTFLAGS:-} -Cinstrument-coverage"
export SPIRIT_CUTS="${SPIRIT_CUTS:-1500}"
profiles="$CARGO_TARGET_DIR/profiles"
rm -rf "$profiles"
mkdir -p "$profiles"
profiles="$(cd "$profiles" && pwd)"

# Programs that the build runs leave profiles too, which are not wanted: elsewhere.
export LLVM_PROFILE_FILE="$profiles/build/%p.profraw"
cargo test -p spirit --test crash --no-run 2>"$profiles/build.log" || { cat "$profiles/build.log" >&2; exit 1; }
program="$(sed -n 's/.*tests.crash.main.rs (\(.*\))$/\1/p' "$profiles/build.log")"
LLVM_PROFILE_FILE="$profiles/%p.profraw" "$program" what_was
"$profdata" merge -sparse "$profiles"/*.profraw -o "$profiles/all.profdata"
for file in crates/index/src/start/recover.rs crates/index/src/merge/merged_writer.rs crates/index/src/merge.rs crates/index/src/merge/gather.rs \
    crates/index/src/start/import.rs crates/spirit/src/start/recovery.rs crates/spirit/src/start/replay.rs \
    crates/spirit/src/stages/key_import.rs crates/spirit/src/storage/open_root.rs; do
    "$cov" report "$program" -instr-profile="$profiles/all.profdata" "$file" 2>/dev/null |
        awk -v file="$file" '/^TOTAL/ { printf "%s: %d of %d lines reached\n", file, $8 - $9, $8 }'
    "$cov" show "$program" -instr-profile="$profiles/all.profdata" "$file" 2>/dev/null |
        grep -E '^ +[0-9]+\| +0\|' || true
done
