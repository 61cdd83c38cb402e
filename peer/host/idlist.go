package host

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

const maxListed = 4096 // peers in one list

// An idList is a set of peers in a text file that people may edit while the peer is stopped: a peer ID per line, the
// rest of the line and lines that begin with # are remarks.
type idList struct {
	path string
	what string // the file's first line

	mu  sync.Mutex
	ids map[peer.ID]string // with remarks
}

func openIDList(path, what string) (*idList, error) {
	b, err := readState(path)
	if err != nil {
		return nil, err
	}
	ids, err := parseIDList(b)
	if err != nil {
		return nil, stateError(path, "is damaged", err)
	}
	return &idList{path: path, what: what, ids: ids}, nil
}

func parseIDList(b []byte) (map[peer.ID]string, error) {
	ids := map[peer.ID]string{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		text, remark, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		id, err := parseID(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		ids[id] = strings.TrimSpace(remark)
		if len(ids) > maxListed {
			return nil, fmt.Errorf("more than %d peers", maxListed)
		}
	}
	return ids, lines.Err()
}

// parseID reads a peer ID in its text form.
func parseID(text string) (peer.ID, error) {
	if len(text) > 2*maxIDBytes {
		return "", fmt.Errorf("%w: a peer ID of %d letters", ErrAddress, len(text))
	}
	id, err := peer.Decode(text)
	if err != nil {
		return "", fmt.Errorf("%w: %q is not a peer ID: %w", ErrAddress, text, err)
	}
	if _, _, err := identity([]byte(id)); err != nil {
		return "", fmt.Errorf("%w: %w", ErrAddress, err)
	}
	return id, nil
}

func (l *idList) has(id peer.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.ids[id]
	return ok
}

func (l *idList) all() []peer.ID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.ids))
}

// set puts a peer in the list or takes it out; the list is on the disk before it counts.
func (l *idList) set(id peer.ID, in bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, is := l.ids[id]; is == in {
		return nil
	}
	if in && len(l.ids) >= maxListed {
		return stateError(l.path, fmt.Sprintf("has %d peers, and no more fit", maxListed), nil)
	}
	next := maps.Clone(l.ids)
	if in {
		next[id] = ""
	} else {
		delete(next, id)
	}
	text := "# " + l.what + "\n"
	for _, id := range slices.Sorted(maps.Keys(next)) {
		text += strings.TrimSpace(id.String()+" "+next[id]) + "\n"
	}
	if err := writeDurably(l.path, []byte(text)); err != nil {
		return err
	}
	l.ids = next
	return nil
}
