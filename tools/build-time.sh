#!/bin/sh
# What building takes: all functions from nothing, and one more function after that. In a copy of the project
# under target/, which is removed afterwards.
# Usage: build-time.sh [--onto FOLDER] COMMAND...
#   COMMAND builds some packages for release; --package NAME is added to it for each function.
#   --onto FOLDER builds in this target folder, as it is, and keeps it: then the first of the two is not told.
set -eu
cd "$(dirname "$0")/.."
onto=
if [ "${1:-}" = --onto ]; then
  onto=$(realpath "$2")
  shift 2
fi
[ $# -gt 0 ] || { echo 'error: say what builds, such as cargo build --release' >&2; exit 1; }

copy=$PWD/target/build-time
[ ! -e "$copy" ] || { echo "error: $copy is there: another run is under way, or was cut off; then remove it" >&2; exit 1; }
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from - --create | tar --extract --directory "$copy"
export CARGO_TARGET_DIR="${onto:-$copy/target}"
log=$copy/build.log

# Builds, and leaves the seconds that it took in $took.
build() {
  started=$(date +%s.%N)
  (cd "$copy" && "$@" $(for folder in functions/*/; do echo "--package $(basename "$folder")"; done)) >"$log" 2>&1 ||
    { cat "$log" >&2; exit 1; }
  took=$(echo "$started $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')
}

# One row: what, seconds, the most that is aimed at.
row() {
  awk -v what="$1" -v took="$2" -v most="$3" 'BEGIN {
    time = took < 100 ? sprintf("%.1f s", took) : sprintf("%d min %d s", took / 60, took % 60)
    printf "| %s | %s | %d s | %s |\n", what, time, most, took <= most ? "yes" : "no" }'
}

load() { cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown; }

before=$(load)
functions=$(ls "$copy/functions" | wc -l)
echo "Building $functions functions in $CARGO_TARGET_DIR ..." >&2
build "$@"
rows=
[ -n "$onto" ] || rows=$(row "clean release build of $functions functions" "$took" 1200)

# A function that is new to the build: a copy of one, under a name of its own.
echo 'Building one more ...' >&2
cp -r "$copy/functions/ledger" "$copy/functions/one-more"
sed -i 's/^name = "ledger"/name = "one-more"/' "$copy/functions/one-more/Cargo.toml"
sed -i 's/ledger::/one_more::/' "$copy/functions/one-more/src/main.rs"
build "$@"
grep -q 'Compiling one-more' "$log" || { cat "$log" >&2; echo 'error: the function was not built' >&2; exit 1; }

echo '| | took | at most | |'
echo '|---|---|---|---|'
[ -z "$rows" ] || echo "$rows"
row 'release build of one more function' "$took" 60
echo
echo "$(getconf _NPROCESSORS_ONLN) processors; load average $before before, $(load) after."
