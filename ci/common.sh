# shellcheck shell=bash
# Shared by the scripts in this folder: source it, do not run it.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
wheels=$root/.cuda/toolkit  # the toolkit that ci/setup.sh makes from ci/cuda-wheels.txt

# die CODE SENTENCE: one sentence on standard error, then out.
die() {
  echo "pairmark: $2" >&2
  exit "$1"
}

has_driver() {
  [[ -e /proc/driver/nvidia/version ]] || nvidia-smi -L >/dev/null 2>&1 || ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1 '
}

has_gpu() { nvidia-smi -L 2>/dev/null | grep -q UUID; }

# Version of the loaded driver ("580.95.05"), or nothing where it cannot be read.
driver_version() {
  sed -n 's/^NVRM version:.*  \([0-9]\+\.[0-9.]\+\) .*/\1/p' /proc/driver/nvidia/version 2>/dev/null | grep . ||
    nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1 || true
}

# usable_toolkit DIR: true where DIR has nvcc 12 or newer, cuBLASLt and NCCL.
usable_toolkit() {
  local release
  [[ -x $1/bin/nvcc && -e $1/include/cublasLt.h ]] || return 1
  [[ -e $1/include/nccl.h || -e /usr/include/nccl.h || -e /usr/local/include/nccl.h ]] || return 1
  release=$("$1/bin/nvcc" --version | sed -n 's/.*release \([0-9]\+\)\..*/\1/p')
  ((${release:-0} >= 12))
}

# Prints the folder of the first usable toolkit (on PATH, /usr/local/cuda, .cuda/toolkit); false where there is none.
find_toolkit() {
  local nvcc candidates=()
  while read -r nvcc; do candidates+=("${nvcc%/bin/nvcc}"); done < <(type -aP nvcc)
  for candidate in "${candidates[@]}" /usr/local/cuda "$wheels"; do
    if usable_toolkit "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# configure PRESET [-D...]: a quiet configure; what CMake said is shown where it fails. Uses ccache where it is installed.
configure() {
  local preset=$1 toolkit log args=()
  shift
  if command -v ccache >/dev/null; then
    args+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1  # hits across checkouts
  fi
  if [[ $preset == cuda ]]; then
    toolkit=$(find_toolkit) || die 2 "no CUDA toolkit with cuBLASLt and NCCL was found; run: ci/setup.sh --cuda"
    # CMake takes the toolkit's folder for one that the loader knows, which is untrue of .cuda/: so name it in the programs.
    args+=("-DCMAKE_CUDA_COMPILER=$toolkit/bin/nvcc" "-DCMAKE_BUILD_RPATH=$toolkit/lib64" "-DCMAKE_INSTALL_RPATH=$toolkit/lib64")
  fi
  mkdir -p "$root/build"
  log=$root/build/configure-$preset.log
  if ! (cd "$root" && cmake --preset "$preset" "${args[@]}" "$@") >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die 3 "cmake could not configure the preset $preset (above and in build/configure-$preset.log)"
  fi
}

# build PRESET: incremental.
build() { (cd "$root" && cmake --build --preset "$1") || die 3 "the build of preset $1 failed; the compiler's message is above"; }
