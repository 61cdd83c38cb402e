package cli

import (
	"fmt"
	"strings"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/module"
)

// fileFlagName is the flag by which a module gets files: it has none of its own.
const fileFlagName = "file"

// A fileFlag has the files that a module is given, each as NAME=PATH.
type fileFlag []string

// String gives what Set has taken.
func (f *fileFlag) String() string { return strings.Join(*f, ",") }

// Set adds files.
func (f *fileFlag) Set(text string) error {
	*f = append(*f, strings.Split(text, ",")...)
	return nil
}

// read reads the files, which together have at most module.MaxFiles bytes.
func (f *fileFlag) read() (files []module.File, err error) {
	size, seen := 0, map[string]bool{}
	for _, text := range *f {
		name, path, ok := strings.Cut(text, "=")
		if !ok || name == "" || seen[name] {
			return nil, &apps.InputError{What: "--" + fileFlagName, Got: text, Want: "NAME=PATH, each name once"}
		}
		seen[name] = true
		b, err := apps.ReadFile(path, module.MaxFiles)
		if err != nil {
			return nil, err
		}
		if size += len(b); size > module.MaxFiles {
			return nil, &apps.InputError{What: "--" + fileFlagName, Got: fmt.Sprintf("%d bytes and more", size),
				Want: fmt.Sprintf("at most %d in all", module.MaxFiles)}
		}
		files = append(files, module.File{Name: name, Bytes: b})
	}
	return files, nil
}

// filesText names files as they were given.
func filesText(files []module.File) string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name+"=...")
	}
	return strings.Join(names, ",")
}
