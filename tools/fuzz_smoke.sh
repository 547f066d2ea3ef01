#!/usr/bin/env bash
# fuzz_smoke.sh [SECONDS]: every fuzz program for a while. With clang 14 by libFuzzer, SECONDS each (default 60); without,
# the sanitizer build runs a fixed number of seeded mutations. Inputs that crash are left in build/fuzz_findings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-60}
findings=build/fuzz_findings
mkdir -p "$findings"
if command -v clang++-14 > /dev/null; then preset=fuzz; else preset=asan; fi
cmake --preset "$preset" > /dev/null
cmake --build --preset "$preset" --target fuzzers -j "$(nproc)"
export LSAN_OPTIONS=suppressions=$PWD/cmake/sanitizers/lsan.supp:print_suppressions=0
failed=0 count=0
for program in build/"$preset"/bin/fuzz_*; do
  [[ -x $program ]] || continue
  name=$(basename "$program") corpus=tests/fuzz/${program##*/fuzz_}
  count=$((count + 1))
  echo "== $name"
  if [[ $preset == fuzz ]]; then
    work=build/fuzz_corpus/$name
    mkdir -p "$work"
    [[ -d $corpus ]] && seeds=("$corpus") || seeds=()
    "$program" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -print_final_stats=0 \
      -artifact_prefix="$findings/$name-" "$work" "${seeds[@]}" || failed=1
  else
    [[ -d $corpus ]] || corpus=
    "$program" --mutations 20000 --seed "$RANDOM" --dump "$findings/$name-last" ${corpus:+"$corpus"} &&
      rm -f "$findings/$name-last" || failed=1
  fi
done
echo "fuzz: $count programs, $([[ $failed == 0 ]] && echo "no finding" || echo "findings in $findings")"
exit $failed
