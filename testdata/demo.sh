#!/usr/bin/env bash
# The main job, as a person would do it: check a policy, build its sandboxes, run the
# application's code inside them, and see what a faulty policy is told.
#
#   demo.sh path/to/sandbox-lsp
set -euo pipefail

binary=$(realpath "$1")
projects=$(realpath "$(dirname "$0")/projects")

# show COMMAND...: prints a command the way the README does, and runs it.
show() {
  printf '\n$ %s\n' "$(printf '%s ' "$@" | sed "s#$binary#sandbox-lsp#g; s#$projects/##g; s# \$##")"
  "$@"
}

show "$binary" check "$projects/storefront"
show "$binary" build "$projects/storefront"

cd "$projects/storefront"
for file in dist/lodash.bundle.js dist/lodash.stats.workload.bundle.js dist/qs.filters.workload.bundle.js dist/sandbox-manifest.json \
  .sandbox/proxys/lodash-proxy.js .sandbox/proxys/lodash-proxy.d.ts .sandbox/proxys/lodash.stats-proxy.js; do
  [ -s "$file" ] || { echo "the build did not write $file" >&2; exit 1; }
done

printf '\n$ node try.mjs   # calls libraries through their proxies\n'
node "$projects/storefront/try.mjs"
cd "$projects"

status=0
show "$binary" check "$projects/faulty" || status=$?
if [ "$status" -ne 1 ]; then
  echo "the faulty policy should exit with 1, not $status" >&2
  exit 1
fi
printf '(exit %d: there are errors)\n' "$status"

# The libraries' tests, inside and outside of their sandboxes.
show "$binary" test "$projects/storefront"
