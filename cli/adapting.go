package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/apps"
)

// addAdaptFlags are for whoever takes part in a run, and what is done twice for those who are slow.
func (o *options) addAdaptFlags(flags *pflag.FlagSet) {
	numberFlag(flags, &o.eager, "eager", 0, 100, "let idle peers have copies of `N` in 100 jobs given away, when nothing else is "+
		"left for them: a slow peer holds up the end of the run less (0: none)")
	flags.StringVar(&o.adapt, "adapt", "", "how the run decides who takes part: `MODE` volunteers keeps all who do no "+
		"harm, paper as many as it uses well, off everybody (default volunteers; of runs that are verified off)")
	flags.StringVar(&o.peers, "peers", "", "how many peers the run has, `MIN-MAX`, if there are as many (default any number)")
}

// checkAdapt reads --adapt and --peers.
func (o *options) checkAdapt() error {
	mode, err := adapt.ParseMode(cmp.Or(o.adapt, adapt.Volunteers.String()))
	if err != nil {
		return &apps.InputError{What: "--adapt", Got: o.adapt, Want: "volunteers, paper or off"}
	}
	if o.peers == "" {
		return nil
	}
	least, most, two := strings.Cut(o.peers, "-")
	var bad [2]error
	o.least, bad[0] = strconv.Atoi(least)
	o.most, bad[1] = strconv.Atoi(most)
	if !two || bad[0] != nil || bad[1] != nil || o.least < 1 || o.most < o.least || o.most > maxPeers {
		return &apps.InputError{What: "--peers", Got: o.peers,
			Want: fmt.Sprintf("MIN-MAX, as 1-40, of 1 to %d", maxPeers)}
	}
	if mode == adapt.Off {
		return errors.New("--peers cannot go with --adapt off: nobody would keep to it")
	}
	return nil
}

// maxPeers is the most that a run can be said to want.
const maxPeers = 1 << 20
