#!/bin/sh
# Says in one line each what this machine lacks, and which of the given ports are in use.
set -eu
cd "$(dirname "$0")/.."
lacking=0
lack() {
  echo "error: $1" >&2
  lacking=1
}

command -v cc >/dev/null || lack 'there is no C compiler (cc): on Debian and Ubuntu, apt install gcc'
if ! command -v python3 >/dev/null; then
  lack 'there is no python3: on Debian and Ubuntu, apt install python3 python3-venv'
else
  for port in "$@"; do
    python3 - "$port" <<'PYTHON' || lack "port $port is in use: end the program that listens there, then try again"
import socket, sys
with socket.socket() as server:
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind(("127.0.0.1", int(sys.argv[1])))
        server.listen()
    except OSError:
        sys.exit(1)
PYTHON
  done
fi
needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! command -v cargo >/dev/null || ! found=$(rustc --version 2>/dev/null); then
  lack "there is no Rust: install $needed or newer from https://rustup.rs"
else
  found=$(echo "$found" | sed 's/^rustc \([0-9.]*\).*/\1/')
  oldest=$(printf '%s\n%s\n' "$needed" "$found" | sort -t . -k 1,1n -k 2,2n -k 3,3n | head -n 1)
  [ "$oldest" = "$needed" ] || lack "Rust $found is too old: $needed or newer is needed (rustup update stable)"
fi
exit "$lacking"
