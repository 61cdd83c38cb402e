package cli

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/sources"
	"github.com/satin-peer/satin/internal/cause"
)

// newFiles are what an application begins as.
//
//go:embed newapp/*.txt
var newFiles embed.FS

// ownModule is the path of the module that this command is made of.
const ownModule = "github.com/satin-peer/satin"

func newNewCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "new",
		Short:   "Begin an application of your own",
		Long:    "new writes what you need to begin something of your own.",
		Example: "  satin-peer new app golomb --satin ~/src/satin",
		RunE:    func(cmd *cobra.Command, args []string) error { return group("thing", cmd, args) },
	}
	var satin string
	app := &cobra.Command{
		Use:   "app NAME",
		Short: "Write an application and the command around it into a directory NAME",
		Long: `new app writes a Go module into a new directory NAME: a command of your own, which is a whole satin-peer with one
application, and that application: jobs, a sequential twin, a check and a test, as an example to be replaced.

There is no release of satin-peer yet, so --satin says where its source is.`,
		Example: `  satin-peer new app golomb --satin ~/src/satin
  cd golomb && go test ./... && go run . run golomb 12`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := apps.ArgCount(args, 1, "NAME"); err != nil {
				return err
			}
			return c.newApp(args[0], satin)
		},
	}
	app.Flags().StringVar(&satin, "satin", "", "the `DIR` of satin-peer's source")
	cmd.AddCommand(app)
	return cmd
}

var appName = regexp.MustCompile(`^[a-z][a-z0-9]{0,29}$`)

// goNames are those of Go's own packages and patterns of packages: no module can be called so.
const goNames = "all archive bufio builtin bytes cmd cmp compress container context crypto database debug embed " +
	"encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin " +
	"reflect regexp runtime slices sort std strconv strings structs sync syscall testing text time unicode unique " +
	"unsafe vendor weak"

func (c console) newApp(name, satin string) error {
	if !appName.MatchString(name) {
		return &apps.InputError{What: "NAME", Got: name, Want: "a word of small letters and digits, a letter first"}
	}
	if slices.Contains(strings.Fields(goNames), name) {
		return &apps.InputError{What: "NAME", Got: name, Want: "a word that is nothing in Go: its module is called so"}
	}
	mod, err := ownGoMod(satin)
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(satin, "go.sum"))
	if err != nil {
		return failed("%w", err)
	}
	files := map[string][]byte{"go.mod": goModFor(name, satin, mod), "go.sum": sum}
	for to, from := range map[string]string{
		"main.go": "main.go", "jobs/jobs.go": "jobs.go", "jobs/twin.go": "twin.go", "jobs/app.go": "app.go",
		"jobs/jobs_test.go": "jobs_test.go",
	} {
		t, err := template.ParseFS(newFiles, "newapp/"+from+".txt")
		if err != nil {
			return failed("%w", err)
		}
		var b bytes.Buffer
		if err := t.Execute(&b, map[string]string{"Name": name, "Module": name}); err != nil {
			return failed("%w", err)
		}
		files[to] = b.Bytes()
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		return &apps.InputError{What: "NAME", Got: name,
			Want: "a directory that can be made here: " + cause.Of(err).Error()}
	}
	for to, b := range files {
		path := filepath.Join(name, to)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, b, 0o666)); err != nil {
			return failed("%w", err)
		}
	}
	if _, err := sources.Write(filepath.Join(name, "jobs")); err != nil {
		return failed("%w", err)
	}
	fmt.Fprintf(c.out, "%s is an application now. Try it:\n\n\tcd %s\n\tgo test ./...\n\tgo run . run %s 12\n",
		name, name, name)
	return nil
}

// ownGoMod reads the go.mod of satin-peer's source.
func ownGoMod(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if dir == "" || err != nil || !strings.HasPrefix(string(b), "module "+ownModule+"\n") {
		return "", &apps.InputError{What: "--satin", Got: dir,
			Want: "the directory of satin-peer's source, with its go.mod"}
	}
	return string(b), nil
}

// goModFor is the go.mod of a module that uses satin in a directory: with the same versions of everything else, so
// that what builds there builds here.
func goModFor(name, dir, own string) []byte {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	_, requires, _ := strings.Cut(own, "\nrequire (")
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo 1.26.0\n\nrequire %s v0.0.0\n\nreplace %s => %q\n\nrequire (", name, ownModule,
		ownModule, dir)
	for line := range strings.Lines(requires) {
		if text, _, _ := strings.Cut(strings.TrimSpace(line), " //"); strings.Contains(text, " v") {
			line = "\t" + text + " // indirect\n"
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}
