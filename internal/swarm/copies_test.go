//go:build swarm

package swarm_test

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// copies has a campaign handed in until each part of it has so many copies, and names it.
func copies(t *testing.T, ctx context.Context, p *swarm.Process, dir string, n int) (head string) {
	t.Helper()
	for {
		out, err := p.Command(ctx, "campaign", "copies", "--json", dir)
		if err != nil {
			t.Fatal(err)
		}
		var said struct {
			Head   string
			Fewest int `json:"fewest_copies"`
		}
		if err := json.Unmarshal([]byte(out), &said); err != nil {
			t.Fatal(err)
		}
		if said.Fewest >= n {
			return said.Head
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s", out)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// A proof outlives the machine that made it: its pieces, one of them larger than a message may ever be, are had again
// from the others, who keep them on their disks over a restart, and the whole is right.
func TestPiecesOutliveTheirMaker(t *testing.T) {
	s, ctx := start(t, 4)
	maker, dir := s.Peers[1], filepath.Join(t.TempDir(), "w9")
	if _, err := maker.Command(ctx, "campaign", "new", dir, "--parts", "6", "--", "sat", "--waerden",
		"3,9,77"); err != nil {
		t.Fatal(err)
	}
	_, said, err := maker.CommandSays(ctx, "campaign", "run", dir)
	if err != nil || !strings.Contains(said, "satin-peer campaign collect ") {
		t.Fatalf("%q, %v", said, err)
	}
	large := grow(t, dir, 20<<20)
	head := copies(t, ctx, maker, dir, 2)
	if err := maker.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []string{maker.Dir, dir} {
		if err := os.RemoveAll(lost); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Peers[2].Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Peers[2].Restart(ctx); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again")
	if _, err := s.Peers[3].Command(ctx, "campaign", "collect", head, again); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Peers[3].Command(ctx, "campaign", "check", again); err != nil ||
		!strings.HasPrefix(out, "s VERIFIED UNSAT") {
		t.Errorf("%q, %v", out, err)
	}
	if info, err := os.Stat(filepath.Join(again, "pieces", large)); err != nil || info.Size() < 20<<20 {
		t.Errorf("the large piece: %v", err)
	}
}

// grow makes a piece so large, by comments, and gives the name of its file.
func grow(t *testing.T, dir string, bytes int) string {
	t.Helper()
	record := filepath.Join(dir, "pieces", "0001.json")
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "pieces", p["file"].(string)+".lrat.gz")
	piece, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	var comment strings.Builder // that cannot be compressed: another member of the gzip file
	for chance := rand.New(rand.NewPCG(1, 2)); comment.Len() < 2*bytes; {
		fmt.Fprintf(&comment, "c %x\n", chance.Uint64())
	}
	var more strings.Builder
	z := gzip.NewWriter(&more)
	if _, err := z.Write([]byte(comment.String())); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	piece = append(piece, more.String()...)
	sum := sha256.Sum256(piece)
	name := hex.EncodeToString(sum[:])
	p["file"], p["bytes"] = name, len(piece)
	if text, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pieces", name+".lrat.gz"), piece, 0o600); err != nil {
		t.Fatal(err)
	}
	return name + ".lrat.gz"
}
