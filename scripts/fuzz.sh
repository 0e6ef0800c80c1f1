#!/usr/bin/env bash
# A long run of the fuzz targets, guided by coverage (libFuzzer; needs a C++ compiler):
#   scripts/fuzz.sh [SECONDS] [TARGET...]     all targets one after the other, 300 s each, by default
# Inputs that reach new code are kept in fuzz/corpus/TARGET and are the start of the next run. What panics, takes more than
# a second or a gigabyte is written to fuzz/findings/TARGET; read it again with
#   PHYXEL_FUZZ_TARGET=TARGET fuzz/target/TRIPLE/release/phyxel-libfuzzer FILE
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-300}"
shift || true
triple="$(rustc -vV | sed -n 's/^host: //p')"
cargo run --release -q -p phyxel-fuzz --example write_seeds -- fuzz/corpus
# instrumentation of all crates but build scripts, which the explicit target sees to; these flags are those of stable Rust
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
cargo build --release --manifest-path fuzz/Cargo.toml --target "$triple"
if [ $# -eq 0 ]; then
  set -- $(ls fuzz/corpus)
fi
failed=()
for target in "$@"; do
  echo "$target: $seconds s"
  mkdir -p "fuzz/findings/$target"
  PHYXEL_FUZZ_TARGET="$target" RAYON_NUM_THREADS=1 "fuzz/target/$triple/release/phyxel-libfuzzer" \
    -max_total_time="$seconds" -timeout=1 -rss_limit_mb=1000 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="fuzz/findings/$target/" "fuzz/corpus/$target" 2>"fuzz/findings/$target.log" || failed+=("$target")
  grep -E "stat::number_of_executed_units|stat::peak_rss_mb|SUMMARY" "fuzz/findings/$target.log" || true
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "found something: ${failed[*]}; see fuzz/findings"
  exit 1
fi
