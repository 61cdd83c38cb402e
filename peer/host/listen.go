package host

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	portFile  = "port" // the port of the last start, when none was asked for
	portTries = 16
)

// listenAddrs are the addresses to listen on: those asked for, or all with one port.
func listenAddrs(texts []string, state *stateDir) ([]ma.Multiaddr, error) {
	if len(texts) == 0 {
		port, err := listenPort(state)
		if err != nil {
			return nil, err
		}
		for _, ip := range []string{"/ip4/0.0.0.0", "/ip6/::"} {
			texts = append(texts, fmt.Sprintf("%s/udp/%d/quic-v1", ip, port), fmt.Sprintf("%s/tcp/%d", ip, port))
		}
	}
	var addrs []ma.Multiaddr
	for _, text := range texts {
		a, err := ParseListen(text)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, a)
	}
	return addrs, nil
}

// ParseListen reads an address to listen on.
func ParseListen(text string) (ma.Multiaddr, error) {
	a, err := ma.NewMultiaddr(text)
	if err != nil {
		return nil, fmt.Errorf("%w: to listen on %q: %w", ErrAddress, text, err)
	}
	if _, _, err := manet.DialArgs(a); err != nil {
		return nil, fmt.Errorf(
			"%w: to listen on %q: it should be like /ip4/0.0.0.0/tcp/4001 or /ip4/0.0.0.0/udp/4001/quic-v1",
			ErrAddress, text)
	}
	return a, nil
}

// listenPort is the port that both transports use when the user does not care: that of the last start, so that
// invitations and remembered addresses stay true, or a free one.
func listenPort(state *stateDir) (int, error) {
	path := state.path(portFile)
	b, err := readState(path)
	if err != nil {
		return 0, err
	}
	last, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 16)
	if err == nil && last > 0 && free(int(last)) == nil {
		return int(last), nil
	}
	for range portTries {
		l, err := net.Listen("tcp", ":0")
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrListen, err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if free(port) == nil {
			return port, writeDurably(path, []byte(strconv.Itoa(port)+"\n"))
		}
	}
	return 0, fmt.Errorf("%w: no port is free for both TCP and UDP", ErrListen)
}

func free(port int) error {
	return errors.Join(tryListen("tcp", fmt.Sprintf(":%d", port)), tryListen("udp", fmt.Sprintf(":%d", port)))
}

// tryListen says why an address cannot be listened on.
func tryListen(network, addr string) error {
	if strings.HasPrefix(network, "udp") {
		c, err := net.ListenPacket(network, addr)
		if err == nil {
			c.Close()
		}
		return err
	}
	l, err := net.Listen(network, addr)
	if err == nil {
		l.Close()
	}
	return err
}

// untaken says which TCP address another program listens on already. libp2p would listen on it all the same,
// as it shares ports so that it can dial from those it listens on; then either of the two gets what is for
// the other.
func untaken(addrs []ma.Multiaddr) error {
	for _, a := range addrs {
		network, addr, err := manet.DialArgs(a)
		if err != nil || !strings.HasPrefix(network, "tcp") {
			continue
		}
		if err := tryListen(network, addr); err != nil {
			return cannotListen(a.String(), err)
		}
	}
	return nil
}

func cannotListen(addr string, why error) error {
	return fmt.Errorf("%w on %s: %w: choose another address or port", ErrListen, addr, why)
}

// listening checks that each address that was asked for is listened on: libp2p is content if one is.
func listening(n host.Host, asked []string) error {
	for _, text := range asked {
		want, err := ma.NewMultiaddr(text)
		if err != nil {
			return fmt.Errorf("%w: %q: %w", ErrAddress, text, err)
		}
		found := false
		for _, have := range n.Network().ListenAddresses() {
			found = found || sameListen(want, have)
		}
		if found {
			continue
		}
		network, addr, err := manet.DialArgs(want)
		if err == nil {
			err = tryListen(network, addr)
		}
		if err == nil {
			err = errors.New("no transport for it")
		}
		return cannotListen(text, err)
	}
	return nil
}

// sameListen compares what was asked for with what came of it: port 0 became another.
func sameListen(want, have ma.Multiaddr) bool {
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i].Protocol().Code != have[i].Protocol().Code {
			return false
		}
		if value := want[i].Value(); value != have[i].Value() && value != "0" {
			return false
		}
	}
	return true
}
