#!/usr/bin/env bash
# Measures the build against its peer, then prints what the other peers and our own Go
# benchmarks take, and what the membrane costs. Figures only: nothing here passes or fails
# by time.
#
#   run.sh path/to/sandbox-lsp [runs]
set -euo pipefail

binary=$(realpath "$1")
runs=${2:-3}
bench=$(realpath "$(dirname "$0")")
root=$(realpath "$bench/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The five libraries of the peer, in a project of their own: the storefront has more.
project=$work/project
mkdir -p "$project/.sandbox"
ln -s "$root/testdata/projects/storefront/node_modules" "$project/node_modules"
cp "$root/testdata/projects/storefront/package.json" "$project"
cat >"$project/.sandbox/sandbox.config.js" <<'POLICY'
export default {
  lodash: { permissions: [], snapshot: true },
  dayjs: { permissions: [] },
  zod: { permissions: [] },
  "date-fns": { permissions: [] },
  uuid: { permissions: ["crypto"] },
};
POLICY

median() { sort -n | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

# timed CACHE: milliseconds of one build with a cache folder.
timed() {
  rm -rf "$project/dist" "$project/.sandbox/proxys"
  milliseconds "$binary" build --cache-dir "$1" "$project"
}

# milliseconds COMMAND...: how long it takes; findings are no failure.
milliseconds() {
  local start end
  start=$(date +%s%N)
  "$@" >/dev/null || [[ $? == 1 ]]
  end=$(date +%s%N)
  echo $(((end - start) / 1000000))
}

# Three builds: nothing cached at all; the engine compiled, as on every machine after
# the first run; and nothing changed since the last build. The peer takes its turn in
# between, so that whatever else the machine does meets both alike.
results=$work/results
for i in $(seq "$runs"); do
  timed "$work/cache$i" >>"$results.nothing"
  rm -rf "$work/cache$i/results"
  timed "$work/cache$i" >>"$results.engine"
  timed "$work/cache$i" >>"$results.everything"
  node "$bench/webpack-children.mjs" "$project" 1 >>"$results.peer"
done
summary=$(node -e '
  const [peers, ...cached] = process.argv.slice(1).map((x) => JSON.parse(x));
  const peer = peers.sort((a, b) => a.ms - b.ms)[peers.length >> 1];
  console.log(JSON.stringify({ ...peer, runs: peers.length }));
  const names = ["nothing", "engine", "everything"];
  const each = (f) => Object.fromEntries(names.map((name, i) => [name, f(cached[i])]));
  const ratio = (ms) => Math.round((peer.ms / ms) * 10) / 10;
  console.log(JSON.stringify({ build: "the same libraries, also loaded in QuickJS", cachedMs: each((ms) => ms), timesFasterThanWebpack: each(ratio) }));
' "[$(paste -sd, "$results.peer")]" "$(median <"$results.nothing")" "$(median <"$results.engine")" "$(median <"$results.everything")")

# The corpus as an editor's project: sixty libraries in a repository of their own, edited
# while the server runs.
corpus=$work/corpus
mkdir -p "$corpus"
cp -r "$root/testdata/corpus/.sandbox" "$root"/testdata/corpus/package*.json "$corpus"
git -C "$corpus" init -q
git -C "$corpus" add -A
git -C "$corpus" -c user.name=bench -c user.email=bench@localhost commit -q -m corpus
ln -s "$root/testdata/corpus/node_modules" "$corpus/node_modules"

# What a check of it takes on a new machine, after the first run there, and when nothing
# has changed.
for i in $(seq "$runs"); do
  cache=$work/check$i
  milliseconds "$binary" check --cache-dir "$cache" "$corpus" >>"$results.check.nothing"
  rm -rf "$cache/results"
  milliseconds "$binary" check --cache-dir "$cache" "$corpus" >>"$results.check.engine"
  milliseconds "$binary" check --cache-dir "$cache" "$corpus" >>"$results.check.everything"
done

{
  echo "$summary"
  printf '{"check":"the corpus","cachedMs":{"nothing":%s,"engine":%s,"everything":%s}}\n' \
    "$(median <"$results.check.nothing")" "$(median <"$results.check.engine")" "$(median <"$results.check.everything")"
  node "$bench/edits.mjs" "$binary" "$corpus"
  node "$bench/ts-exports.mjs" "$project"
  node "$bench/quickjs-emscripten.mjs" "$project/dist/lodash.bundle.js"
  cd "$root"
  go test -run '^$' -bench . -benchtime 20x ./analysis/... ./policy/hostglobals ./policy/syntax/authority ./proxygen/...
  go test -run '^$' -bench . ./runtime/quickjs/...
} | tee "$work/figures"
echo
node "$bench/ratios.mjs" <"$work/figures"
echo
node "$bench/create.mjs" "$project/dist/lodash.bundle.js"
echo
node "$bench/membrane.mjs"
echo
node "$bench/embedded.mjs"
