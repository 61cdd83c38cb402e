package sat

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/lrat"
)

func init() {
	satin.Register("sat.verdicts", verdicts, satin.Exact(), satin.Certificate(haveAnswers))
	satin.Register("sat.verdict", verdictOf, satin.Exact(), satin.Certificate(hasAnswer))
}

// Hearing is pieces of a proof that are to be checked, each by a job of its own: so, in a run that is verified, by
// several machines, which sign what they say.
type Hearing struct {
	Formula []byte
	Pieces  [][]byte
	Cubes   [][]int32 // what each is about, as a campaign has it
	// Left names those that are elsewhere, by their place: these have no bytes in Pieces. Nil: none is.
	Left []Left
}

// A Claim says that a piece shows that not all literals of a cube are true in a model of the formula. It names both by
// their SHA-256, as a campaign does, and so does whoever signs what came of it.
type Claim struct {
	Formula, Piece       string
	Cube                 []int32
	FormulaText, Content satin.Constant[[]byte]
	// Kept is where the piece is, and Bytes how many it has, if it was left somewhere: then it has no Content.
	Kept  []satin.Kept
	Bytes int64
}

// A Verdict is what the checker says of a claim.
type Verdict struct {
	Accepted bool
	Steps    int  // clauses that the piece adds
	Lost     bool // the piece could not be had, so nothing is said of it
}

// hasAnswer tells a verdict from the word of who could not have the piece, which is no lie.
func hasAnswer(_ Claim, v Verdict) (proves bool, err error) {
	if v.Lost {
		return false, satin.ErrNothing
	}
	return false, nil
}

// haveAnswers is hasAnswer of several.
func haveAnswers(_ Hearing, list []Verdict) (proves bool, err error) {
	for _, v := range list {
		if _, err = hasAnswer(Claim{}, v); err != nil {
			break
		}
	}
	return false, err
}

// Claims says what it is about: see apps.Claim.
func (c Claim) Claims() (formula, proof string, cube []int32) { return c.Formula, c.Piece, c.Cube }

// Right says whether the piece was accepted: see apps.Verdict.
func (v Verdict) Right() bool { return v.Accepted }

// sum names content.
func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

func verdicts(f *satin.Frame, h Hearing) []Verdict {
	formula := satin.ShareConstant(f, h.Formula)
	asked := make([]satin.Future[Claim, Verdict], len(h.Pieces))
	for i, piece := range h.Pieces {
		c := Claim{Formula: sum(h.Formula), Cube: h.Cubes[i], FormulaText: formula}
		if i < len(h.Left) && len(h.Left[i].Kept) > 0 {
			c.Piece, c.Bytes, c.Kept = h.Left[i].File, h.Left[i].Bytes, h.Left[i].Kept
		} else {
			c.Piece, c.Content = sum(piece), satin.ShareConstant(f, piece)
		}
		asked[i] = satin.Spawn(f, verdictOf, c)
	}
	said := make([]Verdict, len(h.Pieces))
	for i := len(asked) - 1; i >= 0; i-- { // the newest first, which is cheapest
		said[i] = asked[i].Get()
	}
	return said
}

// verdictOf checks a claim. It believes nobody that what is there is what is named.
func verdictOf(f *satin.Frame, c Claim) Verdict {
	formula := c.FormulaText.Read(f)
	piece, err := c.content(f)
	if err != nil {
		return Verdict{Lost: true}
	}
	if sum(formula) != c.Formula || sum(piece) != c.Piece {
		return Verdict{}
	}
	return follow(formula, piece, c.Cube)
}

// mostInflated is how many times longer than its file a piece may be. What inflates a
// thousandfold would keep whoever checks it busy.
const mostInflated = 64

// follow has the checker follow a piece, which may be compressed.
func follow(formula, piece []byte, cube []int32) Verdict {
	text := &io.LimitedReader{R: bytes.NewReader(piece), N: mostInflated * int64(len(piece))}
	if z, err := gzip.NewReader(bytes.NewReader(piece)); err == nil {
		text.R = z
	}
	goal := make([]int32, len(cube))
	for i, l := range cube {
		goal[i] = -l
	}
	report, err := lrat.Derive(bytes.NewReader(formula), text, goal)
	return Verdict{Accepted: err == nil && text.N > 0, Steps: report.Added} // all of it was read
}

// verdictsAlone is the sequential twin of verdicts.
func verdictsAlone(h Hearing) []Verdict {
	said := make([]Verdict, len(h.Pieces))
	for i, piece := range h.Pieces {
		if said[i].Lost = i < len(h.Left) && len(h.Left[i].Kept) > 0; !said[i].Lost {
			said[i] = follow(h.Formula, piece, h.Cubes[i])
		}
	}
	return said
}

// maxHearing bounds what is checked in one run, in bytes: it travels with the run.
const maxHearing = 15 << 20

// hearing reads a formula and pieces, which are named as FILE=CUBE.
func hearing(args []string) (*apps.Problem, error) {
	if len(args) < 2 {
		return nil, &apps.InputError{What: "--check", Want: "a formula's FILE and pieces as FILE=LITERALS, such as p.lrat.gz=3,-7"}
	}
	name, f, err := read(args[:1])
	if err != nil {
		return nil, err
	}
	var h Hearing
	if h.Formula, err = apps.ReadFile(args[0], maxHearing); err != nil {
		return nil, err
	}
	size := len(h.Formula)
	for _, arg := range args[1:] {
		file, literals := arg, ""
		if i := strings.LastIndexByte(arg, '='); i >= 0 {
			file, literals = arg[:i], arg[i+1:]
		}
		cube, err := parseCube(literals, f)
		if err != nil {
			return nil, err
		}
		var piece []byte
		var left Left
		if strings.HasPrefix(file, keptPiece) {
			left, err = parseKept(file)
		} else {
			piece, err = apps.ReadFile(file, maxHearing)
		}
		if err != nil {
			return nil, err
		}
		if size += len(piece); size > maxHearing {
			return nil, &apps.InputError{What: "--check", Got: fmt.Sprintf("%d bytes and more", size),
				Want: fmt.Sprintf("at most %d in all", maxHearing)}
		}
		h.Pieces, h.Cubes, h.Left = append(h.Pieces, piece), append(h.Cubes, cube), append(h.Left, left)
	}
	return &apps.Problem{
		Title: fmt.Sprintf("%d pieces of a proof about %s", len(h.Pieces), name), Root: "sat.verdicts", Arg: h,
		Sequential: func() any { return verdictsAlone(h) },
		Check: func(result any) error {
			if n := len(result.([]Verdict)); n != len(h.Pieces) {
				return fmt.Errorf("%d verdicts about %d pieces", n, len(h.Pieces))
			}
			return nil
		},
		Answer: func(result any) apps.Answer {
			var refused, lost []string
			for i, v := range result.([]Verdict) {
				if v.Lost {
					lost = append(lost, args[i+1])
				} else if !v.Accepted {
					refused = append(refused, args[i+1])
				}
			}
			text := fmt.Sprintf("%d of %d pieces are right", len(h.Pieces)-len(refused)-len(lost), len(h.Pieces))
			if len(lost) > 0 {
				text += fmt.Sprintf("; %d cannot be had", len(lost))
			}
			if len(refused) > 0 {
				text += "; refused: " + strings.Join(refused, " ")
			}
			return apps.Answer{Text: text, Fields: map[string]any{"pieces": len(h.Pieces),
				"refused": append([]string{}, refused...), "lost": append([]string{}, lost...)}}
		},
	}, nil
}
