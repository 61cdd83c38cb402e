package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/campaign"
	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/lrat"
	"github.com/satin-peer/satin/internal/wire"
)

// Files of a campaign's directory. Part 12 is proved when pieces/0012.json is there, which names its piece; 0012.run
// names the run that is to bring it.
const (
	planFile    = "campaign.json"
	formulaFile = "formula.cnf"
	pageFile    = "index.html"
	lockFile    = "run.lock" // is held by the command that has the parts computed
	piecesDir   = "pieces"
	partsDir    = "parts" // 0012 in it is the campaign of part 12, if that was divided again
	pieceEnd    = ".lrat.gz"
	modelEnd    = ".model.json"
	maxPlan     = 256 << 20 // bytes
	deepest     = 8         // campaigns in one another
)

// A campaignDir is the directory of a campaign, as it is now.
type campaignDir struct {
	*campaign.Plan
	dir  string
	room *atomic.Int64 // for bytes of pieces, in this campaign and those in it; nil: all are kept

	mu     sync.Mutex
	pieces []*campaign.Piece // by part; nil for one that is not proved

	page sync.Mutex // so that the page that is written last is the newest
}

func (d *campaignDir) path(names ...string) string {
	return filepath.Join(append([]string{d.dir}, names...)...)
}

// formula is the file of the formula: a campaign in another has that one's.
func (d *campaignDir) formula() string {
	name := d.path(formulaFile)
	for range deepest {
		if _, err := os.Stat(name); err == nil {
			break
		}
		name = filepath.Join(filepath.Dir(name), "..", "..", formulaFile)
	}
	return name
}

func (d *campaignDir) pieceFile(p *campaign.Piece) string { return d.path(piecesDir, p.File+pieceEnd) }

func (d *campaignDir) record(part int) string {
	return d.path(piecesDir, fmt.Sprintf("%04d.json", part+1))
}

// makeCampaign writes the directory of a new campaign, and the formula if it is about the whole. It fails if there
// is one.
func makeCampaign(dir string, plan *campaign.Plan, parts *apps.Parts, n int) error {
	d := &campaignDir{Plan: plan, dir: dir}
	if _, err := os.Lstat(d.path(planFile)); err == nil {
		return &apps.InputError{What: dir, Got: "a directory with a campaign", Want: "a new one"}
	}
	if err := os.MkdirAll(d.path(piecesDir), 0o755); err != nil {
		return failed("%w", err)
	}
	var formula bytes.Buffer
	if err := parts.Formula(&formula); err != nil {
		return failed("%w", err)
	}
	plan.Formula, plan.Cubes = campaign.Sum(formula.Bytes()), parts.Cut(plan.Of, n)
	if err := d.checkCover(); err != nil {
		return failed("%w", err)
	}
	if len(plan.Of) == 0 {
		if err := apps.WriteFile(d.path(formulaFile), durable.Bytes(formula.Bytes())); err != nil {
			return failed("%w", err)
		}
	}
	return d.writeJSON(d.path(planFile), plan) // last: from now on there is a campaign
}

func (d *campaignDir) writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = apps.WriteFile(path, durable.Bytes(append(text, '\n')))
	}
	if err != nil {
		return failed("%w", err)
	}
	return nil
}

// openCampaign reads what is there. A piece whose record cannot be read is none.
func openCampaign(args []string) (*campaignDir, error) {
	if err := apps.ArgCount(args, 1, "DIR"); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(args[0])
	if err != nil {
		return nil, failed("%w", err)
	}
	d := &campaignDir{dir: dir}
	if d.Plan, err = readPlan(d.path(planFile)); err != nil {
		return nil, err
	}
	formula, err := apps.ReadFile(d.formula(), maxPlan)
	if err != nil {
		return nil, err
	}
	if campaign.Sum(formula) != d.Formula {
		return nil, &apps.InputError{What: d.formula(), Want: "the formula that the campaign began with"}
	}
	d.pieces = make([]*campaign.Piece, len(d.Cubes))
	for part := range d.pieces {
		var p campaign.Piece
		text, err := apps.ReadFile(d.record(part), maxPlan)
		if err == nil && json.Unmarshal(text, &p) == nil && p.Part == part+1 && isHash(p.File) {
			d.pieces[part] = &p
		}
	}
	return d, nil
}

func readPlan(file string) (*campaign.Plan, error) {
	var p campaign.Plan
	text, err := apps.ReadFile(file, maxPlan)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, &apps.InputError{What: file, Got: err.Error(), Want: "the plan of a campaign"}
	}
	return &p, nil
}

// isHash says whether a record names a file by a hash, and not by a path to somewhere else.
func isHash(name string) bool {
	_, ok := wire.ParseHash(name)
	return ok
}

func (d *campaignDir) state(now time.Time) *campaign.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &campaign.State{Plan: d.Plan, Pieces: slices.Clone(d.pieces), At: now}
}

// modelIn is the file with the model of a part of a campaign, also of one that was divided: then the formula has it,
// and all is said. "" if none was found.
func modelIn(dir string) (file string) {
	pattern := "*" + modelEnd
	for range deepest {
		if names, err := fs.Glob(os.DirFS(dir), pattern); err == nil && len(names) > 0 {
			return filepath.Join(dir, filepath.FromSlash(names[0]))
		}
		pattern = partsDir + "/*/" + pattern
	}
	return ""
}

// hasModel is the error that a part has a model, if one has.
func hasModel(dir string) error {
	file := modelIn(dir)
	if file == "" {
		return nil
	}
	return failed("the formula has a model, so there is nothing to prove: it is in %s", file)
}

// writePage shows how far the campaign is now.
func (d *campaignDir) writePage() error {
	d.page.Lock()
	defer d.page.Unlock()
	s := d.state(time.Now())
	s.Satisfiable = modelIn(d.dir) != ""
	return apps.WriteFile(d.path(pageFile), s.WritePage)
}

// checkCover has the checker follow the cover: if all parts have no model, the formula has none.
func (d *campaignDir) checkCover() error {
	var goals, cover bytes.Buffer
	if err := d.WriteGoals(&goals); err != nil {
		return err
	}
	if err := d.Cover(&cover, func(part int) int { return part + 1 }, len(d.Cubes)); err != nil {
		return err
	}
	_, err := lrat.Derive(&goals, &cover, d.Conclusion())
	return err
}

// checkPiece has the checker follow the piece of a part in a file. Hash is what the file is to have; "" for any.
// Text is how many bytes of proof there are.
func (d *campaignDir) checkPiece(part int, file, hash string) (report lrat.Report, text int64, err error) {
	if hash != "" {
		if got, _, err := fileSum(file); err != nil || got != hash {
			return report, 0, errors.Join(err, fmt.Errorf("%s is not what its name says", file))
		}
	}
	formula, err := os.Open(d.formula())
	if err != nil {
		return report, 0, err
	}
	defer formula.Close()
	piece, err := openPiece(file)
	if err != nil {
		return report, 0, err
	}
	defer piece.Close()
	var read counter
	report, err = lrat.Derive(formula, io.TeeReader(piece, &read), d.Goal(part))
	return report, int64(read), err
}

// counter counts the bytes that it is given.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// openOwn opens a file of a campaign that is to be given to others. Whoever has made its directory may have put a link
// there to what is only this user's.
func openOwn(name string) (*os.File, error) {
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

func fileSum(name string) (sum string, size int64, err error) {
	f, err := durable.Open(name, os.O_RDONLY)
	if err != nil {
		return "", 0, cause.Of(err)
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// clauses counts those of the formula, as the checker does.
func (d *campaignDir) clauses() (n int, err error) {
	f, err := os.Open(d.formula())
	if err != nil {
		return 0, err
	}
	defer f.Close()
	report, err := lrat.Check(f, strings.NewReader("")) // which is no proof
	if errors.Is(err, lrat.ErrFormula) {
		return 0, err
	}
	return report.Clauses, nil
}

// take checks the proof of a part that came in a file, and keeps it under its hash.
func (d *campaignDir) take(part int, file string, p campaign.Piece) error {
	began := time.Now()
	report, text, err := d.checkPiece(part, file, "")
	if err != nil {
		return err
	}
	p.Part, p.Steps, p.Text, p.Checking = part+1, report.Added, text, time.Since(began).Seconds()
	if p.File, p.Bytes, err = fileSum(file); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Dropped = d.room != nil && d.room.Add(-p.Bytes) < 0; p.Dropped {
		d.room.Add(p.Bytes)
		err = os.Remove(file)
	} else {
		err = os.Rename(file, d.pieceFile(&p))
	}
	if err != nil {
		return err
	}
	return d.renew(part, &p)
}

// keep bounds the bytes of pieces that are kept; 0: all are.
func (d *campaignDir) keep(most int64) {
	if most > 0 {
		d.room = new(atomic.Int64)
		d.room.Store(most - keptIn(d))
	}
}

// keptIn is how many bytes of pieces are kept, also of parts that were divided and are not all proved.
func keptIn(d *campaignDir) (bytes int64) {
	for part, p := range d.pieces {
		if p != nil && !p.Divided && !p.Dropped {
			bytes += p.Bytes
		}
		if inner, err := d.inner(part); err == nil {
			bytes += keptIn(inner)
		}
	}
	return bytes
}

// mayExport refuses a directory with a campaign that is no export of the plan's.
func mayExport(p *campaign.Plan, to string) error {
	plan := filepath.Join(to, planFile)
	if _, err := os.Lstat(plan); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	there, err := readPlan(plan)
	if err != nil {
		return err
	}
	if len(there.Args) > 0 || there.Formula != p.Formula ||
		!slices.EqualFunc(there.Cubes, p.Cubes, slices.Equal) {
		return &apps.InputError{What: to, Got: "a directory with a campaign", Want: "a new one, or an export of this one"}
	}
	return nil
}

// isOwn says whether a file, which may not be there yet, is in a directory that the campaign of dir keeps for itself.
func isOwn(dir, file string) bool {
	of, err := filepath.Abs(file)
	for err == nil && of != filepath.Dir(of) {
		of = filepath.Dir(of)
		here, bad := os.Stat(of)
		for _, name := range []string{piecesDir, partsDir} {
			if own, err := os.Stat(filepath.Join(dir, name)); err == nil && bad == nil && os.SameFile(own, here) {
				return true
			}
		}
	}
	return false
}

// export writes what anybody may see.
func (d *campaignDir) export(to string, now time.Time) error {
	public := *d.Plan
	public.Args = nil // they may name files
	out := &campaignDir{Plan: &public, dir: to, pieces: slices.Clone(d.pieces)}
	if err := os.MkdirAll(out.path(piecesDir), 0o755); err != nil {
		return failed("%w", err)
	}
	for part, p := range d.pieces {
		if p == nil {
			continue
		}
		shown := *p
		shown.Gave = map[string]float64{}
		for peer, seconds := range p.Gave {
			shown.Gave[campaign.Sum([]byte(peer))[:12]] = seconds
		}
		if d.isHere(p) {
			if err := copyPiece(d.pieceFile(p), out.pieceFile(p)); err != nil {
				return failed("%w", err)
			}
		}
		if p.Divided {
			inner, err := d.inner(part)
			if err != nil {
				return err
			}
			if err := inner.export(out.partDir(part), now); err != nil {
				return err
			}
		}
		shown.Verdicts = nil
		for _, author := range p.Verdicts {
			shown.Verdicts = append(shown.Verdicts, campaign.Sum([]byte(author))[:12])
		}
		if len(p.Verdicts) > 0 {
			if err := copyFile(d.signedPath(part), out.signedPath(part)); err != nil {
				return failed("%w", err)
			}
		}
		out.pieces[part] = &shown
		if err := out.writeJSON(out.record(part), &shown); err != nil {
			return err
		}
	}
	if len(d.Of) == 0 {
		if err := copyFile(d.path(formulaFile), out.path(formulaFile)); err != nil {
			return failed("%w", err)
		}
	}
	s := out.state(now)
	s.Satisfiable = modelIn(d.dir) != ""
	if err := apps.WriteFile(out.path(pageFile), s.WritePage); err != nil {
		return failed("%w", err)
	}
	return out.writeJSON(out.path(planFile), &public)
}

// copyPiece copies a file that has the name of its content: what is there already, of that length, is it.
func copyPiece(from, to string) error {
	here, err := os.Stat(from)
	there, bad := os.Stat(to)
	if err == nil && bad == nil && there.Size() == here.Size() {
		return nil
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	f, err := openOwn(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return apps.WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
