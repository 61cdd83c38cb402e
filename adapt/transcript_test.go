package adapt

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/satin-peer/satin/internal/transcript"
)

// TestTranscripts plays what is in testdata: a run, its peers, and what its coordinator decides period by period.
// The README there explains the commands.
func TestTranscripts(t *testing.T) {
	transcript.Play(t, func() (*strings.Builder, func(*testing.T, *datadriven.TestData)) {
		p := &play{s: Situation{Links: map[ClusterID]float64{}}, says: map[string]Sample{}}
		return &p.said, p.command
	})
}

type play struct {
	t    *testing.T
	said strings.Builder
	cfg  Config
	core *Core
	s    Situation
	says map[string]Sample // by peer, or cluster
	now  int
}

func (p *play) command(t *testing.T, d *datadriven.TestData) {
	p.t = t
	switch d.Cmd {
	case "run":
		if err := p.run(d); err != nil {
			p.said.WriteString(err.Error() + "\n")
		}
	case "join", "leave":
		for _, a := range d.CmdArgs {
			p.move(a.Key, d.Cmd == "join")
		}
	case "master": // a new coordinator knows the roster and nothing else
		p.s.Master = PeerID(d.CmdArgs[0].Key)
		p.core, _ = New(p.cfg)
	case "say":
		p.say(d)
	case "link":
		p.s.Links[ClusterID(d.CmdArgs[0].Key)] = p.number(d.CmdArgs[0].Vals[0])
	case "period":
		for range max(1, int(p.value(d, "times", 1))) {
			p.period(&p.said)
		}
	default:
		p.t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
	}
}

func (p *play) run(d *datadriven.TestData) error {
	mode, err := ParseMode(d.CmdArgs[0].Key)
	if err != nil {
		return err
	}
	p.cfg = Default(mode)
	p.cfg.Min, p.cfg.Max = int(p.value(d, "min", 1)), int(p.value(d, "max", 0))
	p.s.Master, p.s.Roster = "a1", Roster{}
	p.core, err = New(p.cfg)
	return err
}

// move lets a peer come or go, or several as b1-4.
func (p *play) move(which string, come bool) {
	id, last, _ := strings.Cut(which, "-")
	from, to := int(p.number(id[1:])), int(p.number("0"+last))
	for i := from; i <= max(from, to); i++ {
		m := Member{PeerID(fmt.Sprintf("%c%d", id[0], i)), ClusterID(id[:1])}
		p.s.Members = slices.DeleteFunc(p.s.Members, func(o Member) bool { return o == m })
		if come {
			p.s.Members = append(p.s.Members, m)
		}
	}
}

func (p *play) say(d *datadriven.TestData) {
	p.says[d.CmdArgs[0].Key] = Sample{Cores: p.value(d, "cores", 1), Overhead: p.value(d, "overhead", 0),
		Wide: p.value(d, "wide", 0), Speed: p.value(d, "speed", 0),
		Rate: p.value(d, "rate", 0)}
}

// period samples whoever has something to say, decides, and lets those go that are out.
func (p *play) period(b *strings.Builder) {
	p.s.Samples = nil
	for _, m := range p.s.Members {
		x, own := p.says[string(m.Peer)]
		if !own {
			x, own = p.says[string(m.Cluster)]
		}
		if own {
			x.Peer, x.For = m.Peer, 30*time.Second
			p.s.Samples = append(p.s.Samples, x)
		}
	}
	d := p.core.Step(&p.s)
	p.now++
	fmt.Fprintf(b, "%d: %d peers, %d sampled, efficiency %.0f %%", p.now, len(p.s.Members), d.Sampled, 100*d.Efficiency)
	if d.Roster.Number != p.s.Roster.Number {
		fmt.Fprintf(b, ", roster %d", d.Roster.Number)
		if d.Roster.Wanted > 0 {
			fmt.Fprintf(b, " wants %d", d.Roster.Wanted)
		}
	}
	b.WriteByte('\n')
	for _, c := range d.Changes {
		fmt.Fprintf(b, "   %v\n", c)
	}
	p.s.Roster = d.Roster
	p.s.Members = slices.DeleteFunc(p.s.Members, func(m Member) bool { return d.Roster.Excludes(m) })
}

func (p *play) value(d *datadriven.TestData, key string, otherwise float64) float64 {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return p.number(a.Vals[0])
		}
	}
	return otherwise
}

func (p *play) number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) {
		p.t.Fatalf("%q is no number", text)
	}
	return x
}
