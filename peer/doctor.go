package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/members"
)

// maxClockError is how wrong this machine's clock may be, by the cards of the others, before Doctor speaks of
// it. Nothing breaks at once: expiry of manifests and invitations goes by it.
const maxClockError = time.Minute

// A doctor looks at everything that may keep a peer from being useful.
type doctor struct {
	*base.Base
	cfg      *Config
	crew     *crew
	reporter *reporter
	members  *members.Members
	files    *archive
	card     *ownCard
	deaths   *infirmary
}

func (d *doctor) examine() []control.Finding {
	s := d.reporter.status()
	return []control.Finding{
		d.examinePorts(&s), d.examineReach(&s), d.examineMembers(&s), d.examineClock(d.Now()), d.examineDisk(),
		d.examineWork(&s), uplinkFinding(s.Runs), d.examineJobs(), d.examineExecutables(), d.examinePriority(),
		d.examineQuarantine(),
	}
}

func (d *doctor) examinePorts(s *control.Status) control.Finding {
	f := control.Finding{Check: "ports"}
	if len(s.Addresses) == 0 {
		f.Level, f.Text = control.Problem, "the peer listens on no address"
		f.Fix = "let it listen: remove 'listen' from the configuration, or name an address of this machine there"
		return f
	}
	f.Level, f.Text = control.Good, fmt.Sprintf("addresses it listens on: %d, such as %s",
		len(s.Addresses), s.Addresses[0])
	return f
}

func (d *doctor) examineReach(s *control.Status) control.Finding {
	f := control.Finding{Check: "reachable"}
	switch r := s.Reachability; r.State {
	case control.ReachPublic:
		f.Level, f.Text = control.Good, "others can connect to this peer from outside"
	case control.ReachPrivate:
		f.Level, f.Text = control.Warning, "nobody outside can connect to this peer: "+r.Why
		f.Fix = "have it listen where others get, and forward its UDP and TCP port in the router if there is one; until then " +
			"it works with peers that it can connect to itself"
		if r.Relay != "" {
			f.Text += "; it is reached through " + r.Relay
		}
	default:
		f.Level, f.Text = control.Warning, "not known yet whether others can connect from outside"
		if r.Why != "" {
			f.Text += ": " + r.Why
		}
		f.Fix = "nothing, if all peers are on one network; else wait until a member outside has tried"
	}
	return f
}

func (d *doctor) examineMembers(s *control.Status) control.Finding {
	f := control.Finding{Check: "members"}
	known := d.members.Count()
	switch {
	case d.card.isDouble():
		f.Level, f.Text, f.Fix = control.Problem, twoLives, oneLife
	case s.Peers > 0:
		f.Level, f.Text = control.Good, fmt.Sprintf("members known: %d; connected: %d", known, s.Peers)
	case known > 0:
		f.Level, f.Text = control.Problem, fmt.Sprintf("members known: %d; none is connected", known)
		f.Fix = "see whether this machine has a network, and whether a member runs: " +
			"satin-peer join with an address that its status shows says why not, as where this peer was put out"
	default:
		f.Level, f.Text = control.Problem, fmt.Sprintf("no other member of the swarm %q is known", s.Swarm)
		f.Fix = "satin-peer join with the address of a member, or with the line that satin-peer invite prints there"
	}
	return f
}

// examineClock compares this machine's clock with those of the members, by their newest cards.
func (d *doctor) examineClock(now time.Time) control.Finding {
	f := control.Finding{Check: "clock", Level: control.Good}
	var off []time.Duration
	for _, c := range d.members.List() {
		off = append(off, c.Heard.Sub(time.Unix(c.At, 0))) // cards may be a while on the way, but most are not
	}
	if len(off) == 0 {
		f.Text = "there is no member to compare it with; it shows " + now.UTC().Format(time.RFC3339)
		return f
	}
	slices.Sort(off)
	middle := off[len(off)/2]
	// cards tell whole seconds
	f.Text = fmt.Sprintf("differs by less than %s from the members'", middle.Abs().Truncate(time.Second)+2*time.Second)
	if middle.Abs() > maxClockError {
		f.Level, f.Fix = control.Warning, "set it, best by NTP: invitations and runs may seem to have expired"
	}
	return f
}

// examineDisk writes and syncs a small file where answers are kept.
func (d *doctor) examineDisk() control.Finding {
	f := control.Finding{Check: "disk"}
	err := func() error {
		if why := d.files.gone(); why != "" {
			return errors.New(why)
		}
		if err := d.files.answers.Make(); err != nil {
			return err
		}
		file, err := os.CreateTemp(d.files.answers.Dir, "doctor-*")
		if err != nil {
			return err
		}
		_, err = file.Write(make([]byte, 4096))
		return errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
	}()
	if err != nil {
		f.Level, f.Text = control.Problem, "answers cannot be kept: "+err.Error()
		f.Fix = "make room, or make " + filepath.Dir(d.files.answers.Dir) + " writable for this user"
		return f
	}
	f.Level, f.Text = control.Good, "answers can be kept in "+d.files.answers.Dir
	return f
}

func (d *doctor) examineWork(s *control.Status) control.Finding {
	f := control.Finding{Check: "work"}
	refused := slices.DeleteFunc(d.reporter.list(), func(r control.RunInfo) bool {
		return r.State != control.RunRefused
	})
	switch {
	case s.State == control.PeerWorking:
		f.Level, f.Text = control.Good, fmt.Sprintf("%d of %d workers run jobs", s.Busy, s.Workers)
	case s.State == control.PeerFinishing:
		f.Level, f.Text = control.Good, fmt.Sprintf("jobs to be done here before it is paused: %d", s.Left)
	case s.State == control.PeerPaused && s.Limit != "":
		f.Level, f.Text = control.Good, "nothing is computed: "+s.Limit
	case s.State == control.PeerPaused:
		f.Level, f.Text, f.Fix = control.Warning, "computing is paused", "satin-peer resume"
	case len(refused) > 0:
		f.Level, f.Text = control.Problem, fmt.Sprintf("run %s of %s was refused: %s", refused[0].Run,
			plain.Clip(refused[0].App), refused[0].Why)
		f.Fix = letIn(&refused[0])
	case len(s.Runs) > 0:
		f.Level, f.Text = control.Warning, s.WhyIdle
		f.Fix = "nothing, if this lasts for seconds only; else look at satin-peer runs: the run may be at its end, or too small"
	default:
		f.Level, f.Text = control.Good, "there is no run in the swarm: start one with satin-peer run"
	}
	return f
}

// uplinkFinding says whether this peer's line to other clusters carries what its runs need: of one that lacks
// something, or else of the one that needs most.
func uplinkFinding(list []control.RunInfo) control.Finding {
	f := control.Finding{Check: "uplink", Level: control.Good}
	var worst *control.RunInfo
	for i := range list {
		u := list[i].Uplink
		if u == nil {
			continue
		}
		if worst == nil || u.Short() && !worst.Uplink.Short() ||
			u.Short() == worst.Uplink.Short() && u.Needs > worst.Uplink.Needs {
			worst = &list[i]
		}
	}
	if worst == nil {
		f.Text = "what runs here need to send to other clusters is not known: none of them has sent anything for long"
		return f
	}
	u := worst.Uplink
	f.Text = fmt.Sprintf("run %s with all its cores here: %s to other clusters", worst.Run, u)
	if u.Short() {
		f.Level = control.Warning
		f.Fix = fmt.Sprintf("a faster line, or fewer cores for runs that need so much: about %.0f %% of those that it has "+
			"here would do (satin-peer config set workers)", max(100*u.Has/u.Needs, 1))
	}
	return f
}

// letIn says what can be done about a run that is refused here.
func letIn(r *control.RunInfo) string {
	switch {
	case r.Mine && r.Quarantined:
		return "satin-peer resume " + r.Run + " lets it in again, satin-peer cancel " + r.Run + " ends it"
	case r.Quarantined:
		return "satin-peer resume " + r.Run + " lets it in again"
	case r.Mine:
		return "let the daemon that it was submitted to go on with it, or end it: satin-peer cancel " + r.Run
	}
	return "install the version that its owner has"
}

// examineJobs is about what jobs can reach.
func (d *doctor) examineJobs() control.Finding {
	f := control.Finding{Check: "jobs", Level: control.Warning}
	if len(d.cfg.Compute) == 0 {
		f.Text, f.Fix = "jobs run in this process: one whose stack overflows ends it",
			"let the daemon run them: satin-peer start"
		return f
	}
	how, whole := child.Protection()
	return jobsFinding(how, whole, memoryText(child.MemoryLimit(d.crew.jobMemory.Load())))
}

// jobsFinding says in what jobs run, and what that does not keep from them.
func jobsFinding(how string, whole bool, memory string) control.Finding {
	f := control.Finding{Check: "jobs", Level: control.Good, Text: "jobs run in " + how + "; " + memory}
	if !whole {
		f.Level = control.Warning
		f.Fix = "nothing, if you trust the programs that run here; else a Linux with Landlock (5.13 or newer) and seccomp"
	}
	return f
}

// examineExecutables is about programs of this machine that jobs may have run.
func (d *doctor) examineExecutables() control.Finding {
	f := control.Finding{Check: "executables", Level: control.Good, Text: "jobs may have no program of this machine run"}
	for i, x := range d.crew.apps.programs {
		if i == 0 {
			f.Text = fmt.Sprintf("programs of this machine that jobs may have run: %d, such as %s", len(d.crew.apps.programs), x.Path)
		}
		if hash, err := child.HashProgram(x.Path); err != nil || hash != x.Hash {
			f.Level, f.Text = control.Problem, x.Path+" is not the file any more that jobs may have run"
			f.Fix = "see what has changed it; a daemon that is started again takes it as it is then"
			return f
		}
	}
	return f
}

// memoryText says how many bytes of memory the jobs of one run may have.
func memoryText(most int64, enforced bool) string {
	switch {
	case most == 0:
		return "nothing limits their memory"
	case enforced:
		return fmt.Sprintf("those of one run may have %d MiB of memory", most>>20)
	}
	return fmt.Sprintf("those of one run are to make do with %d MiB of memory, which this system does not enforce",
		most>>20)
}

// examineQuarantine is about runs that are left alone.
func (d *doctor) examineQuarantine() control.Finding {
	f := control.Finding{Check: "quarantine", Level: control.Good, Text: "no run is in quarantine"}
	if list := d.deaths.list(); len(list) > 0 {
		f.Level, f.Text = control.Warning, fmt.Sprintf("runs that are left alone: %d, such as %s: %s", len(list),
			list[0].Hex(),
			d.deaths.of(list[0]).Why)
		f.Fix = "satin-peer resume " + list[0].Hex() + ", if the program is better now"
	}
	return f
}

// reach says whether peers outside the own network can connect to this one.
func reach(h *host.Host) control.Reachability {
	state, why := h.Reachability()
	out := control.Reachability{State: control.ReachUnknown, Why: why}
	switch state {
	case host.ReachPublic:
		out.State, out.Why = control.ReachPublic, ""
	case host.ReachPrivate:
		out.State = control.ReachPrivate
	}
	for _, a := range h.Network().Addrs() {
		if _, err := a.ValueForProtocol(multiaddr.P_CIRCUIT); err != nil {
			continue
		}
		if id, err := a.ValueForProtocol(multiaddr.P_P2P); err == nil {
			out.Relay = id
			break
		}
	}
	return out
}
