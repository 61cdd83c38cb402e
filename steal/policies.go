package steal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknownPolicy is what PolicyByName wraps.
var ErrUnknownPolicy = errors.New("unknown steal policy")

// PolicyNames lists the policies that PolicyByName knows, the default first.
func PolicyNames() []string {
	return []string{"adaptive", "acrs", "chs", "cmrs", "crs", "load", "master", "push", "rs"}
}

// PolicyByName makes a policy with its default parameters, fresh for one core; "" is the default. The master
// is the peer with the run's root, which only master-worker needs. The error wraps ErrUnknownPolicy and lists
// the names there are.
func PolicyByName(name string, master PeerID) (Policy, error) {
	switch name {
	case "", "adaptive":
		return &Adaptive{}, nil
	case "acrs":
		return InverseTime{}, nil
	case "chs":
		return &Hierarchical{}, nil
	case "cmrs":
		return ClusterAware{Credits: 3}, nil
	case "crs":
		return ClusterAware{}, nil
	case "load":
		return &LoadBased{}, nil
	case "master":
		return MasterWorker{Master: master}, nil
	case "push":
		return &RandomPushing{}, nil
	case "rs":
		return RandomStealing{}, nil
	}
	names := PolicyNames()
	slices.Sort(names)
	return nil, fmt.Errorf("%w %q; there are %s", ErrUnknownPolicy, name, strings.Join(names, ", "))
}
