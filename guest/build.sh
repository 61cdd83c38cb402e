#!/bin/sh
# Rebuilds the modules that are kept in this repository, and says in guest/SUMS what they were made from; a test of
# internal/module says when they are stale. Wants clang 14 or later with lld.
set -eu
cd "$(dirname "$0")/.."
for tool in "${CLANG:=clang}" wasm-ld; do
	command -v "$tool" >/dev/null || { echo "there is no $tool: apt-get install clang lld"; exit 1; }
done
c() { # source...
	for source; do
		"$CLANG" --target=wasm32 -O2 -nostdlib -mbulk-memory -msign-ext -mnontrapping-fptoint -Wall -Wextra \
			-Wno-unused-function -Wno-unused-parameter -Wno-infinite-recursion -Iguest/c \
			-Wl,--no-entry,--stack-first,-s -o "${source%.c}.wasm" "$source"
	done
}
c guest/conform/*.c examples/*-c/*.c
sha256sum guest/build.sh guest/c/* guest/conform/*.* examples/*-c/*.c examples/*-c/*.wasm >guest/SUMS
