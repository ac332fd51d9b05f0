#!/usr/bin/env bash
# Says what to install when a tool that the Makefile needs is missing or too old.
#
#   tools.sh GO GO_MIN NODE NODE_MIN NPM
set -euo pipefail

go=$1 go_min=$2 node=$3 node_min=$4 npm=$5
missing=0

# at_least FOUND WANTED: whether one dotted version is as new as the other.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

complain() {
  echo "$1" >&2
  missing=1
}

if ! command -v "$go" >/dev/null; then
  complain "Go is missing: install Go $go_min or newer (https://go.dev/dl)"
elif version=$("$go" env GOVERSION) && version=${version#go} && ! at_least "${version%% *}" "$go_min"; then
  complain "Go $version is too old: install Go $go_min or newer (https://go.dev/dl)"
fi

if ! command -v "$node" >/dev/null; then
  complain "Node.js is missing: install Node.js $node_min or newer (https://nodejs.org)"
elif version=$("$node" --version) && version=${version#v} && ! at_least "$version" "$node_min"; then
  complain "Node.js $version is too old: install Node.js $node_min or newer (https://nodejs.org)"
fi

if ! command -v "$npm" >/dev/null; then
  complain "npm is missing: it comes with Node.js (https://nodejs.org), on Debian as the package npm"
fi

exit $missing
