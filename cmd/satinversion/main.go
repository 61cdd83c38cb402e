// Command satinversion writes the version of an application into its package: a hash over all sources that its jobs
// reach. It is for go generate, in the directory of the package:
//
//	//go:generate go run github.com/satin-peer/satin/cmd/satinversion
//
// See package apps/sources for what counts.
package main

import (
	"fmt"
	"os"

	"github.com/satin-peer/satin/apps/sources"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "usage: satinversion, in the directory of an application's package")
		os.Exit(2)
	}
	if _, err := sources.Write("."); err != nil {
		fmt.Fprintln(os.Stderr, "satinversion:", err)
		os.Exit(1)
	}
}
