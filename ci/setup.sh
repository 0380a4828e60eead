#!/usr/bin/env bash
# Installs what pairmark needs and is missing, on Debian 12 and Ubuntu 24.04. Needs root or sudo only where something is missing.
#   ci/setup.sh [--with-tests] [--cuda]
#     --with-tests  also what ci/test.sh needs
#     --cuda        a CUDA toolkit too, even where no NVIDIA driver is (with a driver this is the default)
# A CUDA toolkit with NCCL on PATH or in /usr/local/cuda is used; otherwise the pinned wheels of ci/cuda-wheels.txt go into .cuda/.
# Exit code 2: something only you can do; the message says what.
set -euo pipefail
# shellcheck source=common.sh source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ruff=ruff==0.6.9
packages=(g++ cmake ninja-build git ca-certificates pkg-config libgloo-dev libdnnl-dev ocl-icd-opencl-dev libhwloc-dev
  nlohmann-json3-dev libcli11-dev libfmt-dev libbenchmark-dev
  python3 python3-matplotlib python3-numpy python3-jinja2 python3-jsonschema)
test_packages=(libgtest-dev libvalijson-dev python3-pytest python3-venv clang-format-14)

with_tests=false
cuda=false
for argument in "$@"; do
  case $argument in
    --with-tests) with_tests=true ;;
    --cuda) cuda=true ;;
    *) die 2 "unknown argument '$argument'; usage: ci/setup.sh [--with-tests] [--cuda]" ;;
  esac
done

# Of the packages named, those that are not installed, one a line.
missing_of() {
  comm -13 <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u) \
    <(printf '%s\n' "$@" | sort -u)
}

as_root() {
  if ((EUID == 0)); then env DEBIAN_FRONTEND=noninteractive "$@"; else sudo env DEBIAN_FRONTEND=noninteractive "$@"; fi
}

install_packages() {
  local log missing
  command -v dpkg-query >/dev/null ||
    die 2 "this is neither Debian nor Ubuntu: install a C++20 compiler, CMake 3.25, Ninja, Git, pkg-config, Gloo, oneDNN, hwloc, nlohmann-json, CLI11, fmt, Google Benchmark (for tests GoogleTest and valijson) and Python 3 with matplotlib, numpy, jinja2 and jsonschema, then run: cmake --preset cpu && cmake --build --preset cpu"
  mapfile -t missing < <(missing_of "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)) && ! { command -v sudo && { sudo -n true || [[ -t 0 ]]; }; } >/dev/null 2>&1; then
    die 2 "these packages are missing and neither root nor sudo is at hand; have them installed: ${missing[*]}"
  fi
  echo "pairmark: installing ${#missing[@]} packages: ${missing[*]}"
  log=$(mktemp)
  as_root apt-get update -qq >"$log" 2>&1 || { tail -n 5 "$log" >&2; }
  if ! as_root apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die 2 "apt-get could not install them (above); check the network and, on Ubuntu, that the component universe is enabled"
  fi
  rm -f "$log"
}

# Debian's python, not one that comes first on PATH: it is the one that the packages above belong to.
make_venv() {
  install_packages python3-venv
  [[ -x $1/bin/python ]] || /usr/bin/python3 -m venv "$1"
}

# Lays out what the wheels brought as one toolkit: lib64, the names that linkers look for, NCCL beside the rest.
link_toolkit() {
  local nvidia=$1 file name
  ln -sfn lib "$nvidia/cu13/lib64"
  for file in "$nvidia"/nccl/include/*; do ln -sfn "../../nccl/include/${file##*/}" "$nvidia/cu13/include/"; done
  for file in "$nvidia"/nccl/lib/*.so.*; do ln -sfn "../../nccl/lib/${file##*/}" "$nvidia/cu13/lib/"; done
  for file in "$nvidia"/cu13/lib/*.so.*; do
    name=${file##*/}
    ln -sfn "$name" "$nvidia/cu13/lib/${name%%.so.*}.so"
  done
  ln -sfn "${nvidia#"$root"/.cuda/}/cu13" "$wheels"
}

install_cuda() {
  local pins=$root/ci/cuda-wheels.txt stamp=$root/.cuda/installed.txt driver
  find_toolkit >/dev/null && { [[ $(find_toolkit) != "$wheels" ]] || cmp -s "$pins" "$stamp"; } && return 0
  driver=$(driver_version)
  if [[ -n $driver ]] && ((${driver%%.*} < 580)); then
    die 2 "no CUDA toolkit with NCCL was found, and NVIDIA driver $driver is too old for the CUDA 13 wheels: update it to 580 or newer, or install a CUDA 12 toolkit with cuBLAS and NCCL"
  fi
  echo "pairmark: no CUDA toolkit with NCCL found; installing one from Python wheels into .cuda/ (about 1.1 GB)"
  make_venv "$root/.cuda"
  rm -f "$stamp"
  "$root/.cuda/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$pins" ||
    die 2 "pip could not install ci/cuda-wheels.txt (above); check the network, or install a CUDA toolkit with cuBLAS and NCCL in /usr/local/cuda"
  link_toolkit "$(echo "$root"/.cuda/lib/python3*/site-packages/nvidia)"
  usable_toolkit "$wheels" || die 3 "the wheels in .cuda/ do not make a usable toolkit; remove .cuda/ and run ci/setup.sh --cuda again"
  cp "$pins" "$stamp"
}

# The Python linter is a convenience: without it ci/test.sh says that it skipped that check.
install_ruff() {
  [[ $("$root/.venv/bin/ruff" --version 2>/dev/null) == "ruff ${ruff#*==}" ]] && return 0
  make_venv "$root/.venv"
  timeout 120 "$root/.venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 "$ruff" ||
    echo "pairmark: $ruff could not be installed; the Python lint will be skipped" >&2
}

if $with_tests; then packages+=("${test_packages[@]}"); fi
install_packages "${packages[@]}"
if $with_tests; then install_ruff; fi
if $cuda || has_driver; then install_cuda; fi
