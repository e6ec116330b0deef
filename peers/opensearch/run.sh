#!/bin/sh
# Builds the OpenSearch peer if needed and starts it: run.sh [--heap SIZE] HOME
set -eu
here=$(cd "$(dirname "$0")" && pwd)
jar=$here/target/spirit-peer-opensearch.jar

heap=1g
if [ "${1-}" = --heap ]; then
    [ $# -ge 2 ] || { echo "spirit-peer-opensearch: --heap needs a size" >&2; exit 1; }
    heap=$2
    shift 2
fi

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
    (build) || { echo "spirit-peer-opensearch: mvn package failed" >&2; exit 1; }
fi
if [ "${1-}" = --build ]; then exit 0; fi

# The options of OpenSearch's own start script and jvm.options.
options="-Xms$heap -Xmx$heap -XX:+AlwaysPreTouch -Xss1m"
options="$options -XX:+UseG1GC -XX:G1ReservePercent=25 -XX:InitiatingHeapOccupancyPercent=30"
options="$options -XX:-OmitStackTraceInFastThrow -Djava.awt.headless=true -Dfile.encoding=UTF-8"
options="$options -Djna.nosys=true -Djava.locale.providers=SPI,COMPAT"
options="$options -Dio.netty.noUnsafe=true -Dio.netty.noKeySetOptimization=true"
options="$options -Dio.netty.recycler.maxCapacityPerThread=0"
options="$options -Dio.netty.allocator.numDirectArenas=0"
options="$options -Dlog4j.shutdownHookEnabled=false -Dlog4j2.disable.jmx=true"

# shellcheck disable=SC2086  # the options are words
exec java $options -cp "$jar:$here/target/lib/*" spirit.peer.Server "$@"
