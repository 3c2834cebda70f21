#!/bin/sh
# Installs Python packages into the project's own folder. Usage: install.sh REQUIREMENTS WHAT
set -eu
cd "$(dirname "$0")/.."
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
  echo 'error: this python3 has no venv module: on Debian and Ubuntu, apt install python3-venv' >&2
  exit 1
fi
echo "Installing $2 into .tools (once; a minute or two) ..." >&2
# An interrupted installation is begun again.
.tools/venv/bin/python -m pip --version >/dev/null 2>&1 || python3 -m venv --clear .tools/venv
.tools/venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement "$1"
