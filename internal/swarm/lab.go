//go:build unix

package swarm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// A Lab is a place with a network and disks of its own for the processes of a swarm, so that the one can be
// cut and the other filled without harm to the machine: Linux namespaces, which vanish when the Lab is closed
// and its processes have ended.
//
// Each process has a network interface of its own, on a switch (a bridge) that can be divided. All see the
// machine's files, and besides them the disks that were mounted in the Lab. It needs util-linux and iproute2,
// and either root or a system that lets users make namespaces of their own.
type Lab struct {
	*holder
	user bool // it has a user namespace, too

	// Public has the processes at addresses that libp2p takes for public ones. Set it before the first is started.
	Public bool
	// Six has them at addresses of IPv6 that are unique and local, and Roaming has them listen on all that they have,
	// as daemons do unless they are told otherwise. Set them before the first is started.
	Six, Roaming bool
	// Homes are the routers that some processes are behind, by number.
	Homes map[int]*Home

	mu    sync.Mutex
	ports int
	side  map[int]int // the part of the switch that a process is on, by number; 0 if it is not here
}

// sides is into how many parts a Lab's switch can be divided.
const sides = 4

// maxLabPeers is how many addresses there are.
const maxLabPeers = 200

// holdScript is run in the new namespaces. It ends when its standard input does.
const holdScript = `set -e
ip link set lo up
for i in $(seq 0 $1); do ip link add br$i type bridge; ip link set br$i up; done
echo ready
exec cat`

// OpenLab makes a Lab, or says why there can be none here.
func OpenLab(ctx context.Context) (*Lab, error) {
	l := &Lab{user: os.Geteuid() != 0, side: map[int]int{}}
	line := []string{"--net", "--mount"}
	if l.user {
		line = append(line, "--map-root-user")
	}
	held, err := hold(ctx, slices.Concat([]string{"unshare"}, line,
		[]string{"sh", "-c", holdScript, "sh", strconv.Itoa(sides - 1)})...)
	if err != nil {
		return nil, fmt.Errorf("no namespaces: %w", err)
	}
	l.holder = held
	return l, nil
}

// enter is the beginning of a command line that is run in namespaces of the holder.
func (l *Lab) enter(namespaces ...string) []string {
	line := append([]string{"nsenter", "--target", l.pid()}, namespaces...)
	if l.user {
		line = append(line, "--user", "--preserve-credentials")
	}
	return append(line, "--")
}

// inside makes a command line one that sees the Lab's disks.
func (l *Lab) inside(line []string) []string { return append(l.enter("--mount"), line...) }

// joinScript gives a new network namespace an interface and starts a program in it.
const joinScript = `set -e
hub=$1 port=$2 side=$3 address=$4 mac=$5
shift 5
ip link add eth0 address $mac type veth peer name $port netns $hub
nsenter --target $hub --net ip link set $port master $side up
ip link set lo up
case $address in
*:*) ip addr add $address dev eth0 nodad ;;
*) ip addr add $address dev eth0 ;;
esac
ip link set eth0 up
exec "$@"`

// moveScript is a laptop that leaves one network and comes to another.
const moveScript = `set -e
ip link set eth0 down
ip addr flush dev eth0
ip addr add $1 dev eth0
ip link set eth0 up`

// Move has a process of a Lab that is not Six lose its address and get that of another number, which nobody has.
func (l *Lab) Move(p *Process, number int) error {
	line := []string{"nsenter", "--target", strconv.Itoa(p.PID()), "--net"}
	if l.user {
		line = append(line, "--user", "--preserve-credentials")
	}
	line = append(line, "--", "sh", "-c", moveScript, "sh", l.address(number)+l.bits())
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("moving process %d: %w: %s", p.Number, err, out)
	}
	return nil
}

// connected makes a command line one that is run in a network namespace of the process's own. The process ID
// remains the same.
func (l *Lab) connected(p *Process, line []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.Homes[p.Number]; h != nil {
		return h.connected(line)
	}
	l.ports++
	p.port = fmt.Sprintf("p%d.%d", p.Number, l.ports) // the interface of the last start may be there for a moment yet
	return append(l.inside([]string{"unshare", "--net", "sh", "-c", joinScript, "sh", l.pid(), p.port,
		fmt.Sprintf("br%d", l.side[p.Number]),
		l.address(p.Number) + l.bits(), fmt.Sprintf("02:00:00:00:00:%02x", p.Number%maxLabPeers)}), line...)
}

func (l *Lab) address(number int) string {
	if h := l.Homes[number]; h != nil {
		return h.inside()
	}
	if l.Six {
		return fmt.Sprintf("fd66::%x", 1+number%maxLabPeers)
	}
	return fmt.Sprintf("%d.66.0.%d", l.net(), 1+number%maxLabPeers)
}

// net is the first number of the Lab's addresses, and bits is how many bits all of them share.
func (l *Lab) net() int {
	if l.Public {
		return 8
	}
	return 10
}

func (l *Lab) bits() string {
	switch {
	case l.Six:
		return "/64"
	case l.Public:
		return "/8"
	}
	return "/16"
}

// listen is the setting by which a process of the Lab can be found.
func (l *Lab) listen(number int) string {
	switch {
	case l.Roaming && l.Six:
		return Listen("::")
	case l.Roaming:
		return Listen("0.0.0.0")
	}
	return Listen(l.address(number))
}

// Listen is the setting by which a process has an address of its own, so that others find it there again when
// it is started again.
func Listen(address string) string {
	kind := "ip4"
	if strings.Contains(address, ":") {
		kind = "ip6"
	}
	return fmt.Sprintf("SATIN_LISTEN=/%[1]s/%[2]s/udp/4001/quic-v1,/%[1]s/%[2]s/tcp/4001", kind, address)
}

// Divide lets processes reach only those of their own group; those in no group are with the first. One group,
// or none, is the whole network again.
func (l *Lab) Divide(all []*Process, groups ...[]*Process) error {
	if len(groups) > sides {
		return fmt.Errorf("%d groups of processes, at most %d are possible", len(groups), sides)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.side
	l.side = map[int]int{}
	for i, g := range groups {
		for _, p := range g {
			l.side[p.Number] = i
		}
	}
	for _, p := range all {
		if was[p.Number] == l.side[p.Number] {
			continue
		}
		line := append(l.enter("--net"), "ip", "link", "set", p.port, "master", fmt.Sprintf("br%d", l.side[p.Number]))
		// the interface ends with the process
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil && p.Alive() {
			return fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, out)
		}
	}
	return nil
}

// mount puts a small disk over a directory.
func (l *Lab) mount(dir string, size int64) error {
	line := l.inside([]string{"mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=700", size), "none", dir})
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, out)
	}
	return nil
}

// Path is where this program finds a file of the Lab.
func (l *Lab) Path(name string) string { return filepath.Join("/proc", l.pid(), "root", name) }

// filler is the file that fills a disk.
const filler = "filler"

// Fill leaves no room on the small disk of a process.
func (l *Lab) Fill(p *Process) error {
	f, err := os.OpenFile(l.Path(filepath.Join(p.Dir, filler)), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<16)
	for err == nil {
		_, err = f.Write(block)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Free makes room again.
func (l *Lab) Free(p *Process) error { return os.Remove(l.Path(filepath.Join(p.Dir, filler))) }
