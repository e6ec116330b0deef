#!/bin/sh
# The engine's concurrent tests under ThreadSanitizer, on a stable compiler.
#
# If the toolchain has the standard library's source, that is built instrumented as well and nothing is
# suppressed. Otherwise a mutex that is waited for is invisible to ThreadSanitizer and everything behind it looks
# like a race: `tsan.supp` names what is behind one. The tests and the engine join their threads one by one, because
# the end of a scope is invisible too. Tests with several writers need `tsan-role.supp` besides, which covers a
# lot; those with one writer judge what is shared without a lock.
#
# What it can find: plain memory that two threads share by mistake. The heap is made of atomics, so an ordering that is
# too weak there is no race to it; finding those is the model checker's part.
#
# The engine has no stand-alone fences, which ThreadSanitizer does not understand. Vector loads are inline
# assembly, which it does not see: a race of theirs would not be reported (they read words that are published by
# an atomic that it does see).
set -eu
cd "$(dirname "$0")/.."

export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=thread"
# The suppressions name files, which only line tables tell.
export CARGO_PROFILE_DEV_DEBUG=line-tables-only
export SPIRIT_FRESHNESS_ADDS="${SPIRIT_FRESHNESS_ADDS:-10000}"
export SPIRIT_BESIDE_ADDS="${SPIRIT_BESIDE_ADDS:-2000}"
export PROPTEST_CASES="${PROPTEST_CASES:-5}"
target="x86_64-unknown-linux-gnu"
std=""
if [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library/std" ]; then
    std="-Zbuild-std"
else
    export RUSTFLAGS="$RUSTFLAGS -Cunsafe-allow-abi-mismatch=sanitizer"
fi

suppressions="$(mktemp)"
trap 'rm -f "$suppressions"' EXIT
status=0
# run FILES TEST-ARGUMENTS...: with the suppressions in FILES, if any are needed.
run() {
    files="$1"
    shift
    if [ -z "$std" ]; then
        # shellcheck disable=SC2086 # several files
        cat $files > "$suppressions"
        export TSAN_OPTIONS="suppressions=$suppressions"
    fi
    # One test at a time: what two of them initialize together is the libraries' own.
    # shellcheck disable=SC2086 # an empty $std is no argument
    cargo test $std --target "$target" --no-fail-fast -p spirit --test engine -- --test-threads=1 "$@" || status=1
}
run ci/tsan.supp oracle:: stream::a_key_calls pinned::what_a_reader_holds freshness::no_query_sees_half beside::
run "ci/tsan.supp ci/tsan-role.supp" freshness:: pinned::
exit "$status"
