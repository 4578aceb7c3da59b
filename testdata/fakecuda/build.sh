#!/bin/sh
# Builds the fake CUDA driver and the program that plays allocators: build.sh OUTDIR
set -eu
here=$(dirname "$0")
out=${1:?usage: build.sh OUTDIR}
cc=${CC:-gcc}
command -v "$cc" >/dev/null || { echo "build.sh: no C compiler \"$cc\": install gcc" >&2; exit 1; }
mkdir -p "$out"
"$cc" -shared -fPIC -Wall -Wextra -O2 -o "$out/libcuda.so.1" "$here/fakecuda.c" -lpthread
"$cc" -Wall -Wextra -O2 -o "$out/play" "$here/play.c" -ldl -lpthread
