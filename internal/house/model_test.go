package house_test

import (
	"testing"

	"github.com/satin-peer/satin/internal/house"
)

// Names that a document gives to what the package at the top no longer has are found.
func TestModel(t *testing.T) {
	with := func(name, text string) []string {
		return []string{name, text, "pool.go", "package satin\n" +
			"import \"x/engine\"\n\ntype (\n\tStats = engine.Stats\n\tConfig struct{ Workers int }\n\tFuture[A, R any] struct{}\n)\n" +
			"func (x *Future[A, R]) Get() (r R) { return r }\nfunc NewPool(Config) {}\n",
			"pool_test.go", "package satin\nfunc Testing() {}\n"}
	}
	check(t, house.Model, []ruleCase{
		{"what is there", with("docs/a.md", "`satin.NewPool(satin.Config{Workers: 2})`, `Config.Workers`, Future.Get.\n"+
			"`Stats.Busy`, `steal.Config.Window`, `engine.Pool.Take`, `Core.Report`, www/satin.Org, satin-peer\n"), nil},
		{"what is gone", with("README.md", "a `satin.Gone`\n`(Config.KeepGOMAXPROCS)`, `satin.Future.Wait` and satin.Testing\n"),
			[]string{"README.md:1: package satin has no Gone", "README.md:2: package satin has no Config.KeepGOMAXPROCS",
				"README.md:2: package satin has no Future.Wait", "README.md:2: package satin has no Testing"}},
		{"other documents", with("docs/results/a.md", "`satin.Gone`\n"), nil},
		{"no package", []string{"README.md", "`satin.Gone`\n"}, nil},
	})
}

// Functions and methods of which the documentation does not say whether they block are found.
func TestBlocking(t *testing.T) {
	with := func(doc string) []string {
		return []string{"doc.go", "// Package satin.\n//\n" + doc + "package satin\n", "pool.go", "package satin\n" +
			"type Pool struct{}\ntype Option struct{}\ntype inner struct{}\n" +
			"func (p *Pool) Close() {}\nfunc (p *Pool) wait() {}\nfunc (inner) Wait() {}\nfunc (p Pool) MarshalBinary() {}\n" +
			"func Run[A any](a A) {}\nfunc RegisterErr() {}\nfunc Exact() Option { return Option{} }\n"}
	}
	check(t, house.Blocking, []ruleCase{
		{"all named", with("// # What may block\n//\n// Run, Close.\n//\n// # More\n//\n"), nil},
		{"some not", with("// # What may block\n//\n// RunErr closes.\n//\n// # More\n//\n// Run, Close.\n"),
			[]string{"pool.go:5:16: Close is not named", "pool.go:9:6: Run is not named"}},
		{"no such part", with(""), nil},
	})
}
