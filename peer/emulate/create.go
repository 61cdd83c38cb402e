package emulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/satin-peer/satin/internal/wan"
)

// The files of a directory.
const (
	describes = "emulation.json"
	linksFile = "links"
	scenarios = "scenario" // a directory: the scenario's file and all that it reads
)

// An emulation is what Create writes about it.
type emulation struct {
	Scenario string   `json:"scenario"` // name of its file
	Clusters []string `json:"clusters"` // names, in the order of the scenario's numbers
	Seed     uint64   `json:"seed"`     // for what the scenario draws at random
}

// Create makes a directory from which processes open the emulation of the named scenario in files. The
// scenario begins now. Clusters are the names of the scenario's clusters, in their order; nil calls them "1",
// "2" and so on. The directory is made if need be; one that holds an emulation already gives an error that
// wraps fs.ErrExist, as processes may be using it.
func Create(dir string, files fs.FS, scenario string, clusters []string, seed uint64) error {
	read := &recorder{FS: files, contents: map[string][]byte{}}
	s, err := wan.Parse(read, scenario)
	if err != nil {
		return err
	}
	if clusters == nil {
		for i := range s.Sizes {
			clusters = append(clusters, strconv.Itoa(i+1))
		}
	}
	if err := checkNames(clusters, len(s.Sizes)); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// First, as no other can be there then, whose files these would replace.
	if err := createLinks(filepath.Join(dir, linksFile), len(clusters)); err != nil {
		return err
	}
	for name, content := range read.contents {
		file := filepath.Join(dir, scenarios, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(emulation{scenario, clusters, seed}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, describes), append(text, '\n'), 0o644)
}

func checkNames(clusters []string, want int) error {
	if len(clusters) != want {
		return fmt.Errorf("%d names for the %d clusters of the scenario", len(clusters), want)
	}
	for i, name := range clusters {
		if name == "" || slices.Contains(clusters[:i], name) {
			return fmt.Errorf("cluster %d has the name %q: names must differ and not be empty", i+1, name)
		}
	}
	return nil
}

// readEmulation reads what Create wrote.
func readEmulation(dir string) (*emulation, *wan.Scenario, error) {
	text, err := os.ReadFile(filepath.Join(dir, describes))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s holds no emulation (satin-peer emulate create makes one): %w", dir, err)
	} else if err != nil {
		return nil, nil, err
	}
	e := new(emulation)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(e); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Join(dir, describes), err)
	}
	s, err := wan.Parse(os.DirFS(filepath.Join(dir, scenarios)), e.Scenario)
	if err != nil {
		return nil, nil, err
	}
	if err := checkNames(e.Clusters, len(s.Sizes)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Join(dir, describes), err)
	}
	return e, s, nil
}

// A recorder remembers the files that were read through it.
type recorder struct {
	fs.FS
	contents map[string][]byte
}

// Open reads at most what a scenario's file may have, and a byte more.
func (r *recorder) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, wan.MaxFileSize+1))
	if err != nil {
		return nil, err
	}
	r.contents[name] = content
	return r.FS.Open(name)
}
