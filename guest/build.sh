#!/bin/sh
# Rebuilds the modules that are kept in this repository, and says in guest/SUMS what they were made from; a test of
# internal/module says when they are stale. Wants clang 14 or later with lld, and a rustc (1.63 or later) that has the
# target wasm32-unknown-unknown: Debian's is in rustc and libstd-rust-dev-wasm32.
set -eu
cd "$(dirname "$0")/.."
for tool in "${CLANG:=clang}" wasm-ld; do
	command -v "$tool" >/dev/null || { echo "there is no $tool: apt-get install clang lld"; exit 1; }
done
c() { # source...
	for source; do
		"$CLANG" --target=wasm32 -O2 -nostdlib -mbulk-memory -msign-ext -mnontrapping-fptoint -Wall -Wextra \
			-Wno-unused-function -Wno-unused-parameter -Wno-infinite-recursion -Iguest/c \
			-Wl,--no-entry,--stack-first,-s${stack:+,-z,stack-size=$stack} -o "${source%.c}.wasm" "$source"
	done
}
c guest/conform/*.c
stack=524288 c examples/*-c/*.c # a search is as deep as its graph has vertices

: "${RUSTC:=/usr/bin/rustc}"
[ -x "$RUSTC" ] || { echo "there is no $RUSTC: apt-get install rustc libstd-rust-dev-wasm32, or set RUSTC"; exit 1; }
crate=$(mktemp -d)
trap 'rm -r "$crate"' EXIT
rust() { # arguments of rustc...
	"$RUSTC" --edition 2021 --target wasm32-unknown-unknown -C opt-level=3 -C panic=abort -C linker=wasm-ld \
		-C target-feature=+bulk-memory,+nontrapping-fptoint "$@"
}
rust --crate-type rlib --crate-name satin -o "$crate/libsatin.rlib" guest/rust/src/lib.rs
rust --crate-type cdylib --extern satin="$crate/libsatin.rlib" -C link-args='-z stack-size=131072 --strip-all' \
	-o guest/conform/conform-rust.wasm guest/conform/conform.rs
rust --crate-type cdylib --extern satin="$crate/libsatin.rlib" -C link-args='-z stack-size=131072 --strip-all' \
	-o examples/cubes-rust/cubes.wasm examples/cubes-rust/cubes.rs

sha256sum guest/build.sh guest/c/* guest/rust/src/* guest/conform/*.* examples/*-c/*.c examples/*-rust/*.rs examples/*-*/*.wasm >guest/SUMS
