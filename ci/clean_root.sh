#!/usr/bin/env bash
# Tries a script of this project on a freshly made system: a new Debian 12 or Ubuntu 24.04 root with nothing but the base system,
# a clone of the committed state in it, and the command run there. Needs root, debootstrap, unshare and a package mirror.
#   ci/clean_root.sh [debian|ubuntu] [--keep] [COMMAND ...]     default command: ci/quickstart.sh
#   e.g. ci/clean_root.sh debian ci/test.sh build unit
# For the host's own distribution the host's mirror is used, else debootstrap's default; PAIRMARK_MIRROR=URL overrides both.
# apt's and pip's settings (proxies, certificates) are taken from the host. The root is removed afterwards unless --keep.
set -euo pipefail
# shellcheck source=common.sh source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

distribution=debian
keep=false
if [[ ${1:-} == debian || ${1:-} == ubuntu ]]; then distribution=$1 && shift; fi
if [[ ${1:-} == --keep ]]; then keep=true && shift; fi
command=("${@:-ci/quickstart.sh}")

((EUID == 0)) || die 2 "ci/clean_root.sh needs root"
for tool in debootstrap unshare git; do
  command -v "$tool" >/dev/null || die 2 "$tool is missing; install the packages debootstrap, util-linux and git"
done

if [[ $distribution == debian ]]; then
  suite=bookworm script=/usr/share/debootstrap/scripts/sid components=main keyring=debian-archive-keyring
else
  suite=noble script=/usr/share/debootstrap/scripts/gutsy components=main,universe keyring=ubuntu-archive-keyring
fi
# The first binary mirror of that suite that this host's own apt uses.
# shellcheck disable=SC2016  # apt expands these
mirror=${PAIRMARK_MIRROR:-$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  sed -n "s/^$suite //p" | head -n 1)}
keyring=/usr/share/keyrings/$keyring.gpg
if [[ -e $keyring ]]; then
  trust=--keyring=$keyring
elif [[ $mirror == https://* ]]; then
  trust=--no-check-gpg  # TLS vouches for the mirror; inside the root apt checks signatures as ever
else
  die 2 "$keyring is missing: install the package ${distribution/debian/debian-archive}-keyring or set PAIRMARK_MIRROR to an https:// mirror"
fi

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/pairmark-root.XXXXXX")
# Everything is mounted in a mount namespace of its own (below), so nothing of the host can lie under $dir here;
# --one-file-system is a second guard.
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  if $keep; then echo "pairmark: kept $dir"; else rm -rf --one-file-system "$dir"; fi
}
trap cleanup EXIT

echo "pairmark: making a fresh $distribution ($suite) root in $dir"
mkdir "$dir/root"
debootstrap --variant=minbase --include=ca-certificates --components="$components" "$trust" \
  "$suite" "$dir/root" "$mirror" "$script" >"$dir/debootstrap.log" 2>&1 || {
  tail -n 5 "$dir/debootstrap.log" >&2
  die 3 "debootstrap could not make the root (above); is a mirror of $distribution within reach?"
}

apt-config dump | grep -E '^Acquire::([a-z]+::[Pp]roxy|Check-|Retries|https?::)' >"$dir/root/etc/apt/apt.conf.d/99host" || true
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
  if [[ -e $file ]]; then cp -L "$file" "$dir/root$file"; fi
done
git clone --quiet --no-local "$root" "$dir/root/pairmark"

# shellcheck disable=SC2016  # expanded by the inner shell
inner='set -euo pipefail
mount -t proc proc "$1/proc"
mount -t sysfs -o ro sysfs "$1/sys"
mount --bind "$1/dev" "$1/dev"
mkdir -p "$1/dev/shm"
mount -t tmpfs tmpfs "$1/dev/shm"
dir=$1
shift
exec chroot "$dir" /bin/bash -c "cd /pairmark && exec \"\$@\"" bash "$@"'
mapfile -t settings < <(env | grep -E '^(PIP_[A-Z_]+|[a-z_]+_proxy|[A-Z_]+_PROXY|TERM|CI)=' || true)
code=0
env -i "${settings[@]}" HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  unshare --mount --pid --fork --kill-child bash -c "$inner" bash "$dir/root" "${command[@]}" || code=$?
echo "pairmark: '${command[*]}' on a fresh $distribution root ended with exit code $code"
exit "$code"
