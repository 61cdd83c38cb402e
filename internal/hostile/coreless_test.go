package hostile

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/port/pipe"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// pushers are members that a victim fetches values from, and answer what it asks for. It is a driver without a network.
type pushers struct {
	values map[sharedobj.Hash]*sharedobj.Body
	gets   []*sharedobj.Message
	said   int
}

func (p *pushers) Send(*steal.Message)                {}
func (p *pushers) Tell(*steal.News)                   {}
func (p *pushers) Answer([]byte)                      {}
func (p *pushers) TellShared(*sharedobj.News)         {}
func (p *pushers) Note(string)                        { p.said++ }
func (p *pushers) Store(steal.Partial, driver.Source) {}
func (p *pushers) SendShared(m *sharedobj.Message) {
	if m.Get != nil {
		p.gets = append(p.gets, m)
	}
}

// coreless is a peer whose process of jobs is at the other end of w and r.
func coreless(t *testing.T, p *pushers, r io.ReadCloser, w io.WriteCloser) (*driver.Driver, *pipe.Engine) {
	t.Helper()
	members := steal.NewMembers([]steal.Member{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}})
	random := rand.New(rand.NewPCG(1, 2))
	advice, err := policy.ByName("rs", "a")
	if err != nil {
		t.Fatal(err)
	}
	core, err := steal.NewCore(steal.LAN(), steal.Run{ID: job.RunID{1}, Deputies: []steal.PeerID{"d"}},
		steal.Address{Peer: "a", Inc: 1}, members, advice, random)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sharedobj.Default()
	cfg.MaxBytes = 16 << 20
	shared, err := sharedobj.NewCore(cfg, "a", driver.SharedMembers(members), random)
	if err != nil {
		t.Fatal(err)
	}
	engine := pipe.New(r, w, int(cfg.MaxBytes), nil)
	t.Cleanup(engine.Close)
	return driver.New(driver.Config{Core: core, Engine: engine, Transport: p, Shared: shared, SharedTransport: p,
		Store: p}), engine
}

// Members that push values for minutes to a peer whose process of jobs gets no core have no more of its memory than
// what the peer holds for them; all orders that matter get through when the process has a core again.
func TestPushedWithoutACore(t *testing.T) {
	t.Parallel()
	p := &pushers{values: make(map[sharedobj.Hash]*sharedobj.Body)}
	orders, out := io.Pipe()
	in, _ := io.Pipe()
	d, engine := coreless(t, p, in, out)
	const size = 1 << 20
	now := time.Second
	var pushed uint64
	for i := range 100 {
		now += 2 * time.Second
		d.Tick(now)
		for _, from := range []sharedobj.PeerID{"b", "c"} {
			content := make([]byte, size)
			binary.BigEndian.PutUint64(content, uint64(i))
			copy(content[8:], from)
			body := sharedobj.Build(content)
			clear(p.values)
			p.values[body.Top] = body
			d.StepShared(now, &sharedobj.Message{From: from, To: "a", Announce: &sharedobj.Announce{Origin: from,
				Recipe: sharedobj.Recipe{Kind: sharedobj.Constant, Name: "x", State: body.Blob}}})
			for len(p.gets) > 0 {
				m := p.gets[0]
				p.gets = p.gets[1:]
				for _, id := range m.Get.Pieces {
					data, _ := p.values[m.Get.Top].Piece(id)
					pushed += uint64(len(data))
					d.StepShared(now, &sharedobj.Message{From: m.To, To: "a",
						Piece: &sharedobj.Piece{Top: m.Get.Top, ID: id, Data: data}})
				}
			}
		}
		if events, _ := engine.Poll(); len(events) > 0 {
			t.Fatalf("the process is given up: %+v", events)
		}
	}
	if pushed < 75<<20 {
		t.Fatalf("%d MiB were fetched of what nobody has named; said %d times", pushed>>20, p.said)
	}
	held := d.SharedStats().Pushed
	engine.Answer(&port.Order{Kind: port.Executed, Exec: &port.Execution{Name: "the last"}})
	waited := uint64(0)
	for b, tail := make([]byte, 64<<10), ""; !strings.Contains(tail, "the last"); {
		n, err := orders.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		waited += uint64(n)
		tail = tail[max(0, len(tail)-len("the last")):] + string(b[:n])
	}
	// One value more was begun, and what stands around them.
	if most := held + size + size/4; waited > most || waited < 2*size || held > 8<<20 {
		t.Errorf("%d MiB waited, and %d are held, of %d", waited>>20, held>>20, pushed>>20)
	}
}
