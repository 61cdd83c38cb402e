// Wiregen writes what must follow from the types of messages: how long their encoding is (steal/size_gen.go) and the
// codec of the control stream (peer/stream/codec_gen.go). The structs in package steal, with their numbered tags, are
// the only place where a message is described.
//
// What is written is what the general codec of internal/wire writes, byte for byte; tests of both rooms compare. What
// is read is only that: anything else, be it valid or not, is left to the general codec to judge.
//
//	go generate ./steal
//
// Its test fails when the files on the disk are not what it would write.
package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	files, err := generate(root)
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiregen:", err)
		os.Exit(1)
	}
}

// generate gives the files of the module at root, by their names in it.
func generate(root string) (map[string][]byte, error) {
	types, err := load(root)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, text := range map[string]string{
		"steal/size_gen.go":        sizes(types),
		"peer/stream/codec_gen.go": codec(types),
	} {
		if files[name], err = format.Source([]byte(text)); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, text)
		}
	}
	return files, nil
}
