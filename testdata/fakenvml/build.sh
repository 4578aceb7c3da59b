#!/bin/sh
# Builds the fake driver: build.sh OUTDIR [gcc flags], for example -DOLD_DRIVER=418.
# Then: NVPEAK_NVML=OUTDIR/libnvidia-ml.so.1 FAKENVML_SCENARIO=scenarios/h100x8.txt nvpeak
set -eu
here=$(dirname "$0")
out=${1:?usage: build.sh OUTDIR [gcc flags]}
shift
cc=${CC:-gcc}
command -v "$cc" >/dev/null || { echo "build.sh: no C compiler \"$cc\": install gcc" >&2; exit 1; }
mkdir -p "$out"
"$cc" -shared -fPIC -Wall -Wextra -O2 "$@" -o "$out/libnvidia-ml.so.1" "$here/fakenvml.c" -lpthread -ldl
