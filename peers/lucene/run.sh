#!/bin/sh
# Builds the Lucene peer if needed and starts it: run.sh [--heap SIZE] [--heap-at DIR] TASK --docs FILE ...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
jar=$here/target/spirit-peer-lucene.jar

heap=4g
heap_at=
while [ "${1-}" = --heap ] || [ "${1-}" = --heap-at ]; do
    [ $# -ge 2 ] || { echo "spirit-peer-lucene: $1 needs a value" >&2; exit 1; }
    if [ "$1" = --heap ]; then heap=$2; else heap_at=$2; fi
    shift 2
done

stale() {
    [ ! -f "$jar" ] || [ -n "$(find "$here/src" "$here/pom.xml" -newer "$jar" | head -n 1)" ]
}

# From the local repository if it holds everything, else with downloads.
build() {
    cd "$here"
    mvn -q -o package >/dev/null 2>&1 || mvn -q package >&2
    touch "$jar"
}

if stale; then
    (build) || { echo "spirit-peer-lucene: mvn package failed" >&2; exit 1; }
fi
if [ "${1-}" = --build ]; then exit 0; fi

# A fixed heap whose pages are all touched before the clock starts, if there is one; no collector threads.
set -- spirit.peer.Main "$@"
task=${2-}
options="-Xms$heap -Xmx$heap -XX:+UseSerialGC"
if [ "$task" != answers ]; then
    options="$options -XX:+AlwaysPreTouch"
fi
if [ "$task" = queries ]; then
    # Code is compiled in the asking thread during the warm-up, not later.
    options="$options -XX:-BackgroundCompilation"
    # Short collections. A heap smaller than the default has the share of young objects that Java gives it.
    if [ "$heap" = 4g ]; then options="$options -Xmn128m"; fi
fi
if [ -n "$heap_at" ]; then
    options="$options -XX:AllocateHeapAt=$heap_at"
fi

# What Lucene 9.12 uses if the Java version has it: mapped memory segments and vectors.
java=$(java -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java.specification.version = //p')
case $java in
19 | 20 | 21) options="$options --enable-preview" ;;
esac
case $java in
2[0-9]) options="$options --add-modules jdk.incubator.vector" ;;
esac

# shellcheck disable=SC2086  # the options are words
exec java $options -cp "$jar:$here/target/lib/*" "$@"
