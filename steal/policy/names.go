package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown is what ByName wraps.
var ErrUnknown = errors.New("unknown steal policy")

// Names lists the policies that ByName knows, the default first.
func Names() []string {
	return []string{"adaptive", "acrs", "chs", "cmrs", "crs", "load", "master", "push", "rs", "tree"}
}

// ByName makes a policy with its default parameters, fresh for one core; "" is the default. The master
// is the peer with the run's root, which only master-worker and the tree need. The error wraps ErrUnknown and lists
// the names there are.
func ByName(name string, master PeerID) (Policy, error) {
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
	case "tree":
		return &HostTree{Master: master}, nil
	}
	names := Names()
	slices.Sort(names)
	return nil, fmt.Errorf("%w %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
}
