package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/control"
)

// Other members keep copies of a campaign: each of its files is cut into deposits, the list of these is a file too,
// and one more deposit, the head, names what that is cut into. So the head's hash is all that somebody needs to have
// the campaign again when its machine is gone. A head is that of one moment: there is a new one now and then.

// copiesFile lists the deposits of a campaign, in its directory.
const copiesFile = "copies.json"

const (
	maxCut     = 128 // deposits of one file
	maxCutList = 8   // of the list
	// handedAnew is how long after all was handed in it is handed in again: deposits end.
	handedAnew = 30 * 24 * time.Hour
)

// copyList is what is in it.
type copyList struct {
	// Files are the deposits that each file of the directory is cut into, by the file's name, with slashes.
	Files map[string][]string `json:"files"`
	// Head names the last head; the list that it leads to has none.
	Head string `json:"head,omitempty"`
	// Told is how many files that has.
	Told int `json:"told,omitempty"`
	// All is when everything was handed in last, and At when anything was.
	All time.Time `json:"all,omitzero"`
	At  time.Time `json:"at,omitzero"`
}

// copyHead is what a head says.
type copyHead struct {
	List []string `json:"campaign_list"`
}

// copiedName are the names of files of which there are copies. Whoever collects them writes no others.
var copiedName = regexp.MustCompile(`^(parts/[0-9]{4,6}/){0,8}(campaign\.json|formula\.cnf|pieces/[0-9]{4,6}(\.signed)?\.json|pieces/[0-9a-f]{64}\.lrat\.gz)$`)

// A copier has the daemon see to copies of a campaign.
type copier struct {
	dir  *campaignDir
	d    control.Daemon
	mu   sync.Mutex
	list copyList
	left map[string]*campaign.Piece // those of which there is no file here, by what it would be called
}

func (d *campaignDir) copier(daemon control.Daemon) *copier {
	k := &copier{dir: d, d: daemon, left: map[string]*campaign.Piece{}}
	if text, err := apps.ReadFile(d.path(copiesFile), maxPlan); err != nil || json.Unmarshal(text, &k.list) != nil {
		k.list = copyList{} // all is handed in again
	}
	if k.list.Files == nil {
		k.list.Files = map[string][]string{}
	}
	return k
}

// names are the files of which there should be copies, under the path of the campaign's directory. Of a part that was
// divided they are listed as long as there is none of its record, or when all are wanted.
func (k *copier) names(d *campaignDir, under string, all bool) (names []string) {
	if names = []string{under + planFile}; len(d.Of) == 0 {
		names = append(names, under+formulaFile)
	}
	for part, p := range d.state(time.Time{}).Pieces {
		if p == nil {
			continue
		}
		record := fmt.Sprintf("%s%s/%04d.json", under, piecesDir, part+1)
		if name := under + piecesDir + "/" + p.File + pieceEnd; d.isLeft(p) {
			names = append(names, name)
			k.left[name] = p
		} else if d.isHere(p) {
			names = append(names, name)
		}
		if p.Divided && (all || k.list.Files[record] == nil || k.renewed(record)) {
			if inner, err := d.inner(part); err == nil { // else check says so
				names = append(names, k.names(inner, fmt.Sprintf("%s%s/%04d/", under, partsDir, part+1), all)...)
			}
		}
		if len(p.Verdicts) > 0 {
			names = append(names, fmt.Sprintf("%s%s/%04d.signed.json", under, piecesDir, part+1))
		}
		names = append(names, record)
	}
	return names
}

// renewed says whether a file may have been written since something was handed in last, as a record is when others have
// signed for its piece, or that was lost.
func (k *copier) renewed(name string) bool {
	const coarse = time.Second // clocks of file systems
	if strings.HasSuffix(name, pieceEnd) {
		return false // it has the name of its content
	}
	info, err := os.Stat(k.dir.path(filepath.FromSlash(name)))
	return err == nil && info.ModTime().After(k.list.At.Add(-coarse))
}

// What is handed in.
type extent int

const (
	whatIsNew  extent = iota // and a new head if it is enough
	andTheHead               // what is new, with a new head if there is anything
	everything
)

// handIn gives the daemon what it has not got yet, or all of it.
func (k *copier) handIn(ctx context.Context, what extent) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if now.Sub(k.list.All) > handedAnew {
		what = everything
	}
	for _, name := range k.names(k.dir, "", what == everything) {
		if what != everything && k.list.Files[name] != nil {
			if !k.renewed(name) {
				continue
			}
			k.list.Told-- // what was told of it is not so any more
		}
		if p := k.left[name]; p != nil { // copies were made where it was found
			if _, _, err := claim(ctx, k.d, p); err != nil {
				return err
			}
			k.list.Files[name] = p.Kept
			continue
		}
		f, err := openOwn(k.dir.path(filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		hashes, err := k.cut(ctx, f, name, maxCut)
		_ = f.Close()
		if err != nil {
			return err
		}
		k.list.Files[name] = hashes
	}
	if what == everything {
		k.list.All = now
	}
	k.list.At = now
	const part = 16 // of what was told, so that there are not many heads
	fresh := len(k.list.Files) - k.list.Told
	if fresh == 0 && what == andTheHead || what == whatIsNew && fresh < max(1, k.list.Told/part) {
		return k.save()
	}
	text, err := json.Marshal(copyList{Files: k.list.Files})
	if err != nil {
		return err
	}
	hashes, err := k.cut(ctx, bytes.NewReader(text), "the list of all files", maxCutList)
	if err != nil {
		return err
	}
	head, err := json.Marshal(copyHead{hashes})
	if err != nil {
		return err
	}
	info, err := k.d.Deposit(ctx, control.Deposit{Bytes: head})
	if err != nil {
		return err
	}
	k.list.Head, k.list.Told = info.Hash, len(k.list.Files)
	return k.save()
}

func (k *copier) save() error { return k.dir.writeJSON(k.dir.path(copiesFile), &k.list) }

// cut makes deposits of a file, so many at most.
func (k *copier) cut(ctx context.Context, r io.Reader, name string, most int) (hashes []string, err error) {
	for {
		b, err := io.ReadAll(io.LimitReader(r, control.MaxDeposit)) // most files are small
		switch {
		case err != nil:
			return nil, err
		case len(b) == 0:
			return hashes, nil
		case len(hashes) == most:
			return nil, failed("%s has more than %s: there are no copies of it", name,
				fileSize(int64(most*control.MaxDeposit)))
		}
		info, err := k.d.Deposit(ctx, control.Deposit{Bytes: b})
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, info.Hash)
	}
}

// safety is how many deposits there are, and how many members have the one that fewest have.
func (k *copier) safety(ctx context.Context) (all, fewest int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fewest = math.MaxInt
	hashes := []string{k.list.Head}
	for name, list := range k.list.Files {
		p := k.left[name]
		if p == nil {
			hashes = append(hashes, list...)
			continue
		}
		n, _, err := claim(ctx, k.d, p)
		if err != nil {
			return 0, 0, err
		}
		all, fewest = all+len(p.Kept), min(fewest, n)
	}
	for _, h := range hashes {
		info, err := k.d.Deposit(ctx, control.Deposit{Hash: h})
		if err != nil {
			return 0, 0, err
		}
		fewest = min(fewest, info.Copies)
	}
	return all + len(hashes), fewest, nil
}

// collectLine is how the campaign is had again.
func (k *copier) collectLine() string { return "satin-peer campaign collect " + k.list.Head + " DIR" }

func newCampaignCopies(c console) *cobra.Command {
	var asJSON *bool
	cmd := newDaemonCommand(c, cobra.Command{
		Use:   "copies DIR",
		Short: "Have other members keep copies of a campaign, and say how many there are",
		Long: `copies hands all of the campaign to the daemon, which sees to it that two other members keep each part of it, on what
of their disks they leave to others, for 90 days from the last time. campaign run does the same with what is new, and every
30 days with all. It prints the command by which anybody in the swarm has the campaign again if this machine is lost: keep that
line elsewhere. Whoever keeps a copy can read it: the arguments of "campaign new", the names of files in them, and who gave what.`,
		Example: "  satin-peer campaign copies w12",
	}, 1, 1, func(ctx context.Context, d *control.Client, args []string) error {
		dir, err := openCampaign(args)
		if err != nil {
			return err
		}
		k := dir.copier(d)
		if err := k.handIn(ctx, everything); err != nil {
			return err
		}
		all, fewest, err := k.safety(ctx)
		if err != nil {
			return err
		}
		if *asJSON {
			return c.writeJSON(map[string]any{"deposits": all, "fewest_copies": fewest, "head": k.list.Head})
		}
		_, err = fmt.Fprintf(c.out, "%d deposits; of the one that fewest have there are %d copies at others\n%s\n", all, fewest,
			k.collectLine())
		return err
	})
	asJSON = addJSON(cmd, "the same")
	return cmd
}

func newCampaignCollect(c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "collect HASH DIR",
		Short: "Have a campaign again from the copies that members keep",
		Long: `collect brings together the copies of a campaign in the directory DIR. HASH is what "campaign run" and "campaign
copies" have printed. Nothing of it is believed: "campaign check" checks it, and "campaign run" goes on with it. Given again, it
tries what could not be had.`,
		Example: "  satin-peer campaign collect 27c1e0d79bbd5d1a70a4d1ee4c4a7d58aa3f0d5d5a2cbb64df1c54a7e1c5b5f2 w12",
	}, 2, 2, func(ctx context.Context, d *control.Client, args []string) error {
		missing, err := collect(ctx, d, args[0], args[1])
		if err != nil {
			return err
		}
		if missing > 0 {
			return failed("%d files could not be had: the same command tries them again", missing)
		}
		fmt.Fprintf(c.err, "satin-peer campaign check %s checks it\n", oneLine(args[1]))
		return nil
	})
}

// collect writes the files that a head leads to, and says how many could not be had. One that is there is not asked
// for; a record comes after its piece, and the plan, without which there is no campaign, last.
func collect(ctx context.Context, d control.Daemon, head, dir string) (missing int, err error) {
	list, err := readCopies(ctx, d, head)
	if err != nil {
		return 0, err
	}
	if err := isOfOne(ctx, d, list, dir); err != nil {
		return 0, err
	}
	names := slices.Collect(maps.Keys(list.Files))
	slices.SortFunc(names, func(a, b string) int {
		if a, b := strings.HasSuffix(a, ".json"), strings.HasSuffix(b, ".json"); a != b {
			return map[bool]int{false: -1, true: 1}[a]
		}
		return cmp.Or(strings.Count(b, "/")-strings.Count(a, "/"), strings.Compare(b, a)) // the innermost first
	})
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(file); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return 0, failed("%w", err)
		}
		text, err := fetchDeposits(ctx, d, list.Files[name])
		switch {
		case err == nil && !hasPiece(dir, name, text), ctx.Err() == nil && errors.Is(err, control.ErrUnavailable):
			missing++
			continue
		case err != nil:
			return 0, err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return 0, err
		}
		if err := apps.WriteFile(file, durable.Bytes(text)); err != nil {
			return 0, err
		}
	}
	return missing, nil
}

// isOfOne refuses a directory in which there is another campaign, or a part of one.
func isOfOne(ctx context.Context, d control.Daemon, list copyList, dir string) error {
	for _, name := range []string{planFile, formulaFile} {
		here, err := apps.ReadFile(filepath.Join(dir, name), maxPlan)
		if err != nil {
			continue // none is there, or collect will see
		}
		text, err := fetchDeposits(ctx, d, list.Files[name])
		if err != nil {
			return err
		}
		if !bytes.Equal(here, text) {
			return &apps.InputError{What: dir, Got: "a directory with another campaign", Want: "a new one"}
		}
	}
	return nil
}

// readCopies gives the list of files that a head leads to: names and lengths are as this program would write them.
func readCopies(ctx context.Context, d control.Daemon, head string) (list copyList, err error) {
	var h copyHead
	text, err := fetchDeposits(ctx, d, []string{head})
	if err != nil {
		return list, err
	}
	wrong := &apps.InputError{What: head, Want: "the hash of a campaign's copies"}
	if json.Unmarshal(text, &h) != nil || len(h.List) == 0 || len(h.List) > maxCutList {
		return list, wrong
	}
	if text, err = fetchDeposits(ctx, d, h.List); err != nil {
		return list, err
	}
	if json.Unmarshal(text, &list) != nil {
		return list, wrong
	}
	for name, hashes := range list.Files {
		if !copiedName.MatchString(name) || len(hashes) > maxCut {
			return list, wrong
		}
	}
	return list, nil
}

// hasPiece says whether the piece that a record names is there, if it is one.
func hasPiece(dir, name string, text []byte) bool {
	of := filepath.Join(dir, filepath.FromSlash(path.Dir(path.Dir(name))))
	if path.Base(path.Dir(name)) != piecesDir || !strings.HasSuffix(name, ".json") {
		return true
	}
	var p campaign.Piece
	if json.Unmarshal(text, &p) != nil || p.Dropped || !isHash(p.File) {
		return true // openCampaign will see
	}
	piece := filepath.Join(of, piecesDir, p.File+pieceEnd)
	if p.Divided {
		piece = filepath.Join(of, partsDir, fmt.Sprintf("%04d", p.Part), planFile)
	}
	_, err := os.Stat(piece)
	return err == nil
}

// fetchDeposits gives the file that was cut into deposits.
func fetchDeposits(ctx context.Context, d control.Daemon, hashes []string) (text []byte, err error) {
	for _, h := range hashes {
		got, err := d.Deposited(ctx, h)
		if err != nil {
			return nil, err
		}
		text = append(text, got.Bytes...)
	}
	return text, nil
}
