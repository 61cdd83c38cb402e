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

// set puts a peer in the list or takes it out; the list is on the disk before it counts.
func (l *idList) set(id peer.ID, in bool) error {
	if in {
		return l.add(id, "")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, is := l.ids[id]; !is {
		return nil
	}
	next := maps.Clone(l.ids)
	delete(next, id)
	return l.save(next)
}

const (
	// aLiar is what is remarked of a liar, with the branch that it is of, if that is known.
	aLiar = "a liar"
	// maxLiars of a list are liars, whom others may have made up: the rest is for whom people put there.
	maxLiars = maxListed / 2
)

// add puts a peer in the list, with a remark. Where there are too many liars one makes way of the branch of which most
// are, or of those whose branch is not known: whoever makes liars up has them forgotten, and could make up others.
func (l *idList) add(id peer.ID, remark string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, is := l.ids[id]; is && (remark != "" || !strings.HasPrefix(old, aLiar)) {
		return nil
	}
	next := maps.Clone(l.ids)
	if spare, liars := l.spare(); liars > 0 && (len(next) >= maxListed || remark != "" && liars >= maxLiars) {
		delete(next, spare)
	}
	if next[id] = remark; len(next) > maxListed {
		return stateError(l.path, fmt.Sprintf("has %d peers, and no more fit", maxListed), nil)
	}
	return l.save(next)
}

// spare is one of the liars, of the branch that has most, and how many there are. The lock is held.
func (l *idList) spare() (spare peer.ID, liars int) {
	of, most := map[string]int{}, 0
	for id, remark := range l.ids {
		if !strings.HasPrefix(remark, aLiar) {
			continue
		}
		liars++
		if of[remark]++; of[remark] > most {
			spare, most = id, of[remark]
		}
	}
	return spare, liars
}

// save writes a list, and has it count then. The lock is held.
func (l *idList) save(next map[peer.ID]string) error {
	text := bytes.NewBufferString("# " + l.what + "\n")
	for _, id := range slices.Sorted(maps.Keys(next)) {
		fmt.Fprintln(text, strings.TrimSpace(id.String()+" "+next[id]))
	}
	if err := writeDurably(l.path, text.Bytes()); err != nil {
		return err
	}
	l.ids = next
	return nil
}
