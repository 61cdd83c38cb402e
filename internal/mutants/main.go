// Command mutants breaks the product on purpose, one small change at a time, and sees whether the tests
// notice. A mutant that no test kills marks a rule that nobody guards.
//
// A mutant is a replacement of text in a source file. It is compiled with `go test -overlay`, so neither the
// source nor the product knows of it, and only the tests named with it are run. Run it from the top of the
// repository:
//
//	go run ./internal/mutants             every mutant
//	go run ./internal/mutants steal       those of one room
//	go run ./internal/mutants steal/abort those whose name contains a text
//
// It prints a line for each and exits with status 1 if one survived, or could not be made.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
)

// mutants are all there are.
func mutants() []mutant {
	return filled(sharedMutants, strangersMutants, moodMutants, livesMutants, verifyMutants, moduleMutants,
		engineMutants, hookMutants, stealMutants, recoveryMutants, passingMutants, masterMutants,
		runsMutants, clockMutants,
		libraryMutants, depositsMutants,
		checkpointMutants, driverMutants, proofMutants, vouchingMutants, provingMutants, receiptMutants, hostMutants,
		outcomeMutants, borderMutants, streamMutants,
		timeMutants, peerMutants, preferenceMutants,
		surroundingsMutants, programMutants, adaptMutants, gaugeMutants, objectMutants, appMutants, worldMutants,
		volunteersMutants, verdictMutants, fileMutants, valueMutants, vetMutants,
		simMutants())
}

// filled puts tables together and gives each mutant what it leaves out: without a file, file and tests are those of the
// one above (tests may be named); without a package, it is the file's.
func filled(tables ...[]mutant) []mutant {
	list := slices.Concat(tables...)
	for i := range list {
		m := &list[i]
		if m.file == "" {
			above := &list[i-1]
			m.file, m.pkg, m.run, m.args = above.file, above.pkg, cmp.Or(m.run, above.run), above.args
		}
		if m.pkg == "" {
			m.pkg = path.Dir(m.file)
		}
	}
	return list
}

// usage is what -h prints.
const usage = `usage: go run ./internal/mutants [text...]

It breaks the product in many small ways, one at a time, and sees whether the tests named with each notice.
Run it from the top of the repository. Without a text it tries every mutant, else those whose name contains one:

	go run ./internal/mutants steal/       those of one room
	go run ./internal/mutants steal/abort  those whose name contains a text

It exits with status 1 if a mutant survived or could not be made, or none was tried.
`

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, ran := 0, 0
	for _, m := range mutants() {
		if flag.NArg() > 0 && !slices.ContainsFunc(flag.Args(),
			func(s string) bool { return strings.Contains(m.name, s) }) {
			continue
		}
		ran++
		killer, err := m.kill(ctx, ".")
		if ctx.Err() != nil {
			os.Exit(1)
		}
		switch {
		case err != nil:
			failed++
			fmt.Printf("BROKEN    %-44s %v\n", m.name, err)
		case killer == "":
			failed++
			fmt.Printf("SURVIVED  %-44s %s\n", m.name, m.wrong)
		default:
			fmt.Printf("killed    %-44s by %s\n", m.name, killer)
		}
	}
	fmt.Printf("%d mutants, %d not killed\n", ran, failed)
	if failed > 0 || ran == 0 {
		os.Exit(1)
	}
}
