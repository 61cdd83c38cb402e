// Command satin-peer runs divide-and-conquer programs on all cores of this machine, or of a swarm of them.
package main

import (
	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/cli"
)

func main() { cli.Main(all.Apps()...) }
