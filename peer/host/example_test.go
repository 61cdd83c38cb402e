package host_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/peer/host"
)

// A scientist founds a swarm and a volunteer joins it by a line that came by mail.
func Example() {
	ctx := context.Background()
	here, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(here)
	scientist, err := host.Open(ctx, host.Config{StateDir: here + "/scientist", Swarm: "lab",
		Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		log.Fatal(err)
	}
	defer scientist.Close()
	scientist.Network().SetStreamHandler("/example/1", func(s network.Stream) {
		fmt.Fprintln(s, "welcome to", scientist.SwarmName())
		s.Close()
	})
	line, err := scientist.Invite(ctx, host.InviteOptions{})
	if err != nil {
		log.Fatal(err)
	}

	volunteer, err := host.Open(ctx, host.Config{StateDir: here + "/volunteer",
		Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		log.Fatal(err)
	}
	defer volunteer.Close()
	if err := volunteer.Join(ctx, line); err != nil {
		log.Fatal(err)
	}
	s, err := volunteer.Network().NewStream(ctx, scientist.ID(), "/example/1")
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	var a, b, c string
	fmt.Fscanln(s, &a, &b, &c)
	fmt.Println(a, b, c)
	// Output: welcome to lab
}
