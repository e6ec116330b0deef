#!/bin/sh
# The engine's concurrent tests under ThreadSanitizer, on a stable compiler.
#
# If the toolchain has the standard library's source, that is built instrumented as well and nothing is
# suppressed. Otherwise a mutex that is waited for is invisible to ThreadSanitizer and everything behind it looks
# like a race; `tsan.supp` names what is behind one, and only what is shared without a lock is judged. The tests join
# their threads by hand, because the end of a scope is invisible too.
#
# The engine has no stand-alone fences, which ThreadSanitizer does not understand. Vector loads are inline
# assembly, which it does not see: a race of theirs would not be reported (they read words that are published by
# an atomic that it does see).
set -eu
cd "$(dirname "$0")/.."

export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=thread"
export SPIRIT_FRESHNESS_ADDS="${SPIRIT_FRESHNESS_ADDS:-10000}"
export PROPTEST_CASES="${PROPTEST_CASES:-5}"
target="x86_64-unknown-linux-gnu"
std=""
if [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library/std" ]; then
    std="-Zbuild-std"
else
    export RUSTFLAGS="$RUSTFLAGS -Cunsafe-allow-abi-mismatch=sanitizer"
    export TSAN_OPTIONS="${TSAN_OPTIONS:-} suppressions=$PWD/ci/tsan.supp"
fi

status=0
run() {
    # shellcheck disable=SC2086 # an empty $std is no argument
    cargo test $std --target "$target" --no-fail-fast -p spirit "$@" || status=1
}
# One test at a time: what two of them initialize together is the libraries' own.
run --test oracle --test freshness --test pinned -- --test-threads=1
run --test stream a_key_calls -- --test-threads=1
exit "$status"
