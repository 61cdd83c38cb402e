package library

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/durable"
)

// Runs of a few members that name modules that nobody has leave places for others' and, always, for the user: who has
// fewer gets one when a module was asked for in vain. What nobody can take a place from stays.
func TestMissingModulesMakeWay(t *testing.T) {
	c, err := New(DefaultConfig(256<<20), "me", rand.New(rand.NewPCG(1, 2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Second
	want := func(h Hash, owner PeerID) bool {
		c.Want(now, h, fmt.Sprint("run of ", owner, h[1]), owner)
		if len(c.wanted) > c.cfg.Wanted {
			t.Fatalf("%d are fetched at once", len(c.wanted))
		}
		return c.Wanted(h)
	}
	for i := range c.cfg.Wanted {
		want(Hash{1 + byte(i%2), byte(i)}, PeerID(fmt.Sprint("liar ", i%2)))
	}
	if want(Hash{9}, "honest") {
		t.Error("what is being asked for makes way")
	}
	now += c.cfg.Objects.ReadPatience
	c.Tick(now) // all were in vain
	if !want(Hash{9}, "honest") || !want(Hash{8}, "honest") {
		t.Error("another member's has no place")
	}
	for range 600 {
		now += time.Second
		for i := range 2 * c.cfg.Wanted {
			want(Hash{1 + byte(i%2), byte(i)}, PeerID(fmt.Sprint("liar ", i%2)))
		}
		c.Tick(now)
	}
	if !c.Wanted(Hash{9}) || !c.Wanted(Hash{8}) {
		t.Error("who has most takes places from who has fewer")
	}
	want(Hash{9}, "")
	for i := range c.cfg.Wanted - 1 {
		if !want(Hash{7, byte(i)}, "") {
			t.Fatalf("the user's own has no place, %d have", i)
		}
	}
	if want(Hash{6}, "honest") || want(Hash{7, 200}, "") || !c.Wanted(Hash{9}) {
		t.Error("the user's own makes way")
	}
}

// What is compiled of a module for which there is no room on the disk goes with the last run that needs it, and what an
// earlier life has left of one that is gone at the next start; else members' modules would fill the disk with it.
func TestCompiledCodeGoes(t *testing.T) {
	dir := t.TempDir()
	replace := func(path string, fill func(io.Writer) error) error { return durable.Write(path, 0o600, false, fill) }
	open := func() *Library {
		l, err := Open(DefaultConfig(10), Host{Dir: dir, Self: "me", Replace: replace,
			Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	there := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "code"))
		return err == nil
	}
	l := open()
	code := map[string]string{}
	hash := map[string]Hash{}
	for _, text := range []string{"small", "much too large", "of a life that ends"} {
		hash[text] = l.Add([]byte(text))
		if _, code[text] = l.Use(hash[text], text); code[text] == "" {
			t.Fatalf("%q is not here", text)
		}
		if err := os.WriteFile(filepath.Join(code[text], "code"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.Unuse("much too large", hash["much too large"])
	l.Unuse("small", hash["small"])
	l.Close()
	if there(code["much too large"]) || !there(code["small"]) || !there(code["of a life that ends"]) {
		t.Error("code stays of what nobody needs, or goes of what is there or needed")
	}
	open().Close()
	if there(code["of a life that ends"]) || !there(code["small"]) {
		t.Error("code of an earlier life stays, or that of a module that is there goes")
	}
}
