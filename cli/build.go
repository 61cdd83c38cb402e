package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/module/build"
)

func newBuildCommand(c console) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "build DIRECTORY",
		Short: "Make a module of an application in Go",
		Long: `build makes a WebAssembly module of the Go package in DIRECTORY, which has a variable App of the type apps.App: the same
package that a command of its own could be made of. Who has the file runs it, without Go and without trusting it:
satin-peer run ./NAME.wasm.

It needs the go command. Modules in C need none: see guest/c/satin.h.`,
		Example: `  satin-peer build ./golomb
  satin-peer build ./golomb --output /tmp/golomb.wasm
  satin-peer run ./golomb.wasm 11`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := apps.ArgCount(args, 1, "DIRECTORY"); err != nil {
				return err
			}
			return c.build(args[0], out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "",
		"the `FILE` to write (default the directory's name and .wasm, here)")
	return cmd
}

// build makes the module and sees that it can be run.
func (c console) build(dir, out string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &apps.InputError{What: dir, Want: "a directory with a Go package"}
	}
	if out == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return failed("%w", err)
		}
		out = filepath.Base(abs) + moduleSuffix
	}
	if !strings.HasSuffix(out, moduleSuffix) {
		return &apps.InputError{What: "--output", Got: out, Want: "a name that ends in " + moduleSuffix}
	}
	if err := apps.CheckOutput(out); err != nil {
		return err
	}
	if err := build.Go(context.Background(), dir, out); err != nil {
		if said := (*build.Error)(nil); errors.As(err, &said) {
			for line := range strings.Lines(said.Output) {
				fmt.Fprintln(c.err, strings.ReplaceAll(oneLine(strings.TrimSuffix(line, "\n")), `\t`, "\t"))
			}
			return failed("%s", said.What)
		}
		return failed("%w", err)
	}
	bin, err := os.ReadFile(out)
	if err != nil {
		return failed("%w", err)
	}
	h, err := module.NewHost(module.Config{Cache: cacheDir()})
	if err != nil {
		return failed("%w", err)
	}
	defer h.Close()
	m, err := h.Load(bin)
	if err != nil {
		return failed("%s was built, but %w", out, err)
	}
	defer m.Close()
	fmt.Fprintf(c.out, "%s: %s, %.1f MB, module %s\n", out, m.Summary, float64(len(bin))/1e6, m.Hash)
	return nil
}
