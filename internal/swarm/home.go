//go:build unix

package swarm

import (
	"context"
	"fmt"
	"strconv"
)

// A Home is a router between a process and the network of a public Lab, which translates addresses (iptables
// MASQUERADE) and lets nobody in whom the process has not spoken to. It needs iptables.
//
// A plain one keeps the port of a process towards all others, as most routers do, so that holes can be punched. A
// Symmetric one takes another port for each partner, and they cannot.
type Home struct {
	*holder
	lab    *Lab
	number int
}

// routeScript is run in the namespace of a router. It ends when its standard input does.
const routeScript = `set -e
hub=$1 number=$2 random=$3
ip link set lo up
ip link add wan type veth peer name home$number netns $hub
nsenter --target $hub --net ip link set home$number master br0 up
ip addr add 8.77.0.$number/8 dev wan
ip link set wan up
ip link add lan type bridge
ip addr add 192.168.$number.1/24 dev lan
ip link set lan up
echo 1 > /proc/sys/net/ipv4/ip_forward
iptables -t nat -A POSTROUTING -o wan -j MASQUERADE $random
for chain in INPUT FORWARD; do
	iptables -A $chain -i wan -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
	iptables -A $chain -i wan -j DROP
done
echo ready
exec cat`

// Home makes a router; number, from 1 to 200, tells those of a Lab from each other.
func (l *Lab) Home(ctx context.Context, number int, symmetric bool) (*Home, error) {
	random := ""
	if symmetric {
		random = "--random-fully"
	}
	held, err := hold(ctx, l.inside([]string{"unshare", "--net", "sh", "-c", routeScript, "sh", l.pid(),
		strconv.Itoa(number), random})...)
	if err != nil {
		return nil, fmt.Errorf("no router: %w", err)
	}
	return &Home{held, l, number}, nil
}

func (h *Home) inside() string { return fmt.Sprintf("192.168.%d.2", h.number) }

// homeScript gives a new network namespace an interface behind a router and starts a program in it.
const homeScript = `set -e
router=$1 number=$2
shift 2
ip link set lo up
ip link add eth0 type veth peer name host netns $router
nsenter --target $router --net ip link set host master lan up
ip addr add 192.168.$number.2/24 dev eth0
ip link set eth0 up
ip route add default via 192.168.$number.1
exec "$@"`

// connected makes a command line one that is run behind the router.
func (h *Home) connected(line []string) []string {
	return append(h.lab.inside([]string{"unshare", "--net", "sh", "-c", homeScript, "sh",
		h.pid(), strconv.Itoa(h.number)}), line...)
}
