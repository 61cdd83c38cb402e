//go:build unix

package swarm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Shaper is the emulated network of satin-peer emulate, whose links between clusters can be cut where no
// Lab can be made. It cuts the steal protocol only: gossip, and what peers ask each other, goes on.
type Shaper struct {
	binary, dir string
	clusters    []string
}

// NewShaper describes a fast network between clusters in a new directory.
func NewShaper(ctx context.Context, binary, dir string, clusters []string) (*Shaper, error) {
	s := &Shaper{binary, filepath.Join(dir, "shaper"), clusters}
	scenario := filepath.Join(dir, "scenario")
	text := "clusters" + strings.Repeat(" 8", len(clusters)) + "\nset all 1e9 0.0001\n"
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		return nil, err
	}
	_, err := Command(ctx, binary, []string{"HOME=" + dir}, "emulate", "create", s.dir, scenario, "--clusters",
		strings.Join(clusters, ","))
	return s, err
}

// Setting is what its processes are started with, besides their cluster.
func (s *Shaper) Setting() string { return "SATIN_EMULATE=" + s.dir }

// Divide cuts off a cluster, or connects all again if there is none of that name.
func (s *Shaper) Divide(ctx context.Context, off string) error {
	for _, from := range s.clusters {
		for _, to := range s.clusters {
			word := "restored"
			if from == off || to == off {
				word = "removed"
			}
			if from == to {
				continue
			}
			if _, err := Command(ctx, s.binary, []string{"HOME=" + s.dir}, "emulate", "set", s.dir, from, to,
				word); err != nil {
				return fmt.Errorf("cut off %q: %w", off, err)
			}
		}
	}
	return nil
}
