#!/bin/sh
# The engine's tests under AddressSanitizer, on a stable compiler. It sees the memory of `malloc` only: the
# index's own region is one mapping, whose bounds every view checks for itself.
#
# Left out: `hot_path`, whose child may make no system call (the sanitizer's runtime does), the model checker's
# tests, which have no real memory, `full_heap`, which opens so many indexes that it would take longer than all
# the rest, and the proof of flat memory, since freed memory is kept in quarantine.
set -eu
cd "$(dirname "$0")/.."

export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=address"
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}"
export SPIRIT_FRESHNESS_ADDS="${SPIRIT_FRESHNESS_ADDS:-30000}"
export SPIRIT_BESIDE_ADDS="${SPIRIT_BESIDE_ADDS:-4000}"
export PROPTEST_CASES="${PROPTEST_CASES:-20}"
target="x86_64-unknown-linux-gnu"

status=0
# All crates each time: their features depend on which are asked for, and nothing is compiled twice.
crates="-p spirit-kernel -p spirit-text -p spirit-query -p spirit-mem -p spirit-index -p spirit"
run() {
    # shellcheck disable=SC2086 # several crates
    cargo test --target "$target" --no-fail-fast $crates "$@" || status=1
}
for file in crates/kernel/tests/*.rs; do
    set -- "$@" --test "$(basename "$file" .rs)"
done
run --lib --test analyzers "$@" -- --skip storage::progress --skip storage::watch
run --test engine -- oracle:: freshness:: beside:: ends:: pinned:: bad_input:: stream::a_key_calls
exit "$status"
