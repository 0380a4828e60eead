#!/usr/bin/env bash
# From a fresh checkout to a first answer: installs what is missing, builds, runs the quick profile and writes the report.
#   ci/quickstart.sh [arguments for pairmark run ...]        e.g. ci/quickstart.sh --devices 0,1
# With an NVIDIA driver it builds for the GPUs, otherwise for the cpu device; PAIRMARK_PRESET=cpu or cuda overrides that.
# Results go to pairmark-results/<UTC time>/. The exit code is that of pairmark run.
set -euo pipefail
# shellcheck source=common.sh source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

args=(-DPAIRMARK_TESTS=OFF)
if [[ -n ${PAIRMARK_PRESET:-} ]]; then
  preset=$PAIRMARK_PRESET
  [[ $preset == cpu || $preset == cuda ]] || die 2 "PAIRMARK_PRESET is '$preset'; say cpu or cuda"
  echo "pairmark: preset $preset, as PAIRMARK_PRESET says"
elif has_driver; then
  preset=cuda
  version=$(driver_version)
  echo "pairmark: using the GPUs (NVIDIA driver ${version:-of unknown version} found)"
else
  preset=cpu
  echo "pairmark: using the cpu device, because no NVIDIA driver was found on this machine"
fi

setup_args=()
if [[ $preset == cuda ]]; then
  setup_args+=(--cuda)
  if has_gpu; then args+=(-DCMAKE_CUDA_ARCHITECTURES=native); else args+=(-DCMAKE_CUDA_ARCHITECTURES=all-major); fi
fi
ci/setup.sh "${setup_args[@]}"
configure "$preset" "${args[@]}"
build "$preset"

out=pairmark-results/$(date -u +%Y%m%dT%H%M%SZ)
pairmark=build/$preset/bin/pairmark
code=0
"$pairmark" run --profile quick -o "$out" "$@" || code=$?
[[ -e $out/result.json ]] || die "$((code ? code : 3))" "pairmark run wrote no result; its messages are above"
"$pairmark" report "$out/result.json" -o "$out" || die 3 "the run is in $out/result.json, but its report could not be written (above)"
for page in "$out"/*.html; do echo "report: $root/$page"; done
exit "$code"
