package cli

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/lrat"
)

func newCheckCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FORMULA PROOF",
		Short: "Check the proof that a formula has no model",
		Long: `check reads a formula in DIMACS CNF and a proof in the LRAT format, and follows the proof step by step. It
believes nobody: it shares no code with the solver, and any other checker of the format may take its place. Files whose
names end in .gz are read as gzip.

The exit code is 0 if the proof is right, 1 if it is not.`,
		Example: `  satin-peer run sat --waerden 3,6,32 --formula w.cnf --proof w.lrat.gz
  satin-peer check w.cnf w.lrat.gz`,
	}
	asJSON := addJSON(cmd, "what the proof consists of")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := apps.ArgCount(args, 2, "FORMULA and PROOF"); err != nil {
			return err
		}
		report, err := checkFiles(args[0], args[1])
		if err != nil {
			return err
		}
		if *asJSON {
			return c.writeJSON(map[string]any{"verified": true, "clauses": report.Clauses, "added": report.Added,
				"deleted": report.Deleted, "hints": report.Hints, "most": report.Most})
		}
		_, err = fmt.Fprintf(c.out, "s VERIFIED UNSAT\nc %s has no model: %d clauses, and %d that follow\n",
			oneLine(args[0]), report.Clauses, report.Added)
		return err
	}
	return cmd
}

func checkFiles(formula, proof string) (report lrat.Report, err error) {
	f, err := openText(formula)
	if err != nil {
		return report, err
	}
	defer f.Close()
	p, err := openText(proof)
	if err != nil {
		return report, err
	}
	defer p.Close()
	report, err = lrat.Check(f, p)
	if err != nil {
		name := proof
		if errors.Is(err, lrat.ErrFormula) {
			name = formula
		}
		return report, failed("%s: %v", name, err)
	}
	return report, nil
}

// openText opens a file that may be compressed, or a pipe.
func openText(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	return textOf(name, f, err)
}

// openPiece is openText for what others may have brought.
func openPiece(name string) (io.ReadCloser, error) {
	f, err := durable.Open(name, os.O_RDONLY)
	return textOf(name, f, err)
}

// textOf reads a file that may be compressed, if it could be opened.
func textOf(name string, f *os.File, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, &apps.InputError{What: name, Got: cause.Of(err).Error(), Want: "a file that can be read"}
	}
	if !strings.HasSuffix(name, ".gz") {
		return f, nil
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		_ = f.Close()
		return nil, &apps.InputError{What: name, Got: err.Error(), Want: "a gzip file"}
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}
