package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The generated files are those that belong to the types of messages as they are now.
func TestGeneratedFilesAreNotStale(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v): run go generate ./steal, and look at the difference", name, err)
		}
	}
}
