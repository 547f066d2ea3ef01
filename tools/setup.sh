#!/usr/bin/env bash
# setup.sh [--kafka | --fuzz]: installs what the build needs: Debian packages (as root), a Python environment with
# pinned versions and, with --kafka, the broker of the tests, with --fuzz the compiler of the fuzz programs. Safe to run
# again: what is there is kept.
# setup.sh --print-venv | --print-kafka: only prints where those are.
# Writes nothing but packages and ${XDG_CACHE_HOME:-~/.cache}/thalweg.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/thalweg
hash_of() { cat "$@" | sha256sum | cut -c1-12; }
venv=${THALWEG_VENV:-$cache/venv-$(hash_of "$here/requirements.txt" "$here/requirements_no_deps.txt")}
kafka=$cache/kafka-$(hash_of "$here/kafka/pom.xml")

case ${1:-} in
--print-venv) echo "$venv"; exit 0 ;;
--print-kafka) echo "$kafka"; exit 0 ;;
esac

say() { echo "setup: $*"; }

packages() { # list file: installs the packages of the list that are missing
  local missing=() name
  command -v dpkg-query > /dev/null || { say "no dpkg here; packages are up to you: $1"; return 0; }
  while read -r name; do
    [[ -z $name || $name == \#* ]] && continue
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null) == installed ]] || missing+=("$name")
  done < "$1"
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]]; then
    say "not root; missing packages: ${missing[*]}"
    return 0
  fi
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -q --no-install-recommends "${missing[@]}" > /dev/null 2>&1 ||
    { apt-get update -q && apt-get install -y -q --no-install-recommends "${missing[@]}"; }
}

packages "$here/apt_packages.txt"

mkdir -p "$cache/tmp"
export TMPDIR=${TMPDIR:-$cache/tmp}
exec 9> "$cache/setup.lock"
flock 9 # several checkouts may set up at once

if [[ ! -e $venv/thalweg-stamp ]]; then
  say "Python environment in $venv"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/requirements_no_deps.txt"
  touch "$venv/thalweg-stamp"
fi

if [[ ${1:-} == --fuzz ]]; then packages "$here/apt_packages_fuzz.txt"; fi

if [[ ${1:-} == --kafka ]]; then
  packages "$here/apt_packages_test.txt"
  if [[ ! -e $kafka/thalweg-stamp ]]; then
    say "Kafka broker in $kafka"
    rm -rf "$kafka"
    mvn -q -B "-Dmaven.repo.local=$cache/maven" -f "$here/kafka/pom.xml" dependency:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$kafka/jars" > "$cache/maven.log" 2>&1 || { cat "$cache/maven.log"; exit 1; }
    touch "$kafka/thalweg-stamp"
  fi
fi
