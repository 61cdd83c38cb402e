package module

import (
	"slices"

	"github.com/satin-peer/satin/sharedobj"
)

// A File is a constant that a run begins with: a file that was given to it, by its name, or what the module made
// when it read its arguments. It is in the root job's argument, and so wherever that may begin again.
type File struct {
	Name  string `cbor:"1,keyasint,omitempty"`
	Bytes []byte `cbor:"2,keyasint"`
}

// MaxFiles bounds the files of a run, in bytes: they go with its manifest to everybody who takes part.
const MaxFiles = 8 << 20

// files is Shared for a module that is asked about a run: there are constants only.
type files struct {
	m     *Module
	all   []File
	names []Name // of these
	size  int
	asked map[string]bool // files that it has asked for
}

func newFiles(m *Module, list []File) *files {
	s := &files{m: m, all: slices.Clone(list)}
	for _, f := range list {
		s.names = append(s.names, constantOf(f.Bytes))
		s.size += len(f.Bytes)
	}
	return s
}

func constantOf(b []byte) Name {
	enc, err := loner{}.Encode(raw(b))
	if err != nil {
		panic(err) // bytes
	}
	r := sharedobj.Recipe{Kind: sharedobj.Constant, Name: constantType, State: sharedobj.Build(enc).Blob}
	return Name(r.Digest())
}

// constantType is how package satin calls a Constant[raw].
const constantType = "constant module.raw"

func (s *files) Constant(b []byte) Name {
	name := constantOf(b)
	if slices.Contains(s.names, name) {
		return name
	}
	if s.size += len(b); s.size > MaxFiles || len(s.all) >= maxNames {
		panic(&Error{s.m.Hash, "its files and constants are too large for a run to begin with"})
	}
	s.all, s.names = append(s.all, File{Bytes: b}), append(s.names, name)
	return name
}

func (s *files) Read(name Name) []byte {
	i := slices.Index(s.names, name)
	if i < 0 {
		s.no()
	}
	return s.all[i].Bytes
}

func (s *files) File(name string) (Name, bool) {
	i := slices.IndexFunc(s.all, func(f File) bool { return name != "" && f.Name == name })
	if i < 0 {
		return Name{}, false
	}
	if s.asked == nil {
		s.asked = map[string]bool{}
	}
	s.asked[name] = true
	return s.names[i], true
}

// named gives those that a list of names has, and those that the module has asked for: it may again when it shows
// the answer.
func (s *files) named(names []byte) (list []File) {
	for i, f := range s.all {
		if s.asked[f.Name] || among(names, s.names[i]) {
			list = append(list, f)
		}
	}
	return list
}

func (s *files) no() {
	panic(&Error{s.m.Hash, "it shares what there is not while it is asked to describe itself"})
}

func (s *files) Object([]byte) Name                      { s.no(); return Name{} }
func (s *files) Write(uint32, Name, []byte, []byte) Name { s.no(); return Name{} }
func (s *files) Lattice(uint32, []byte) Name             { s.no(); return Name{} }
func (s *files) Value(Name) string                       { s.no(); return "" }
func (s *files) Grow(Name, []byte)                       { s.no() }
