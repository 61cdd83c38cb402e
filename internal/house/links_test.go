package house_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satin-peer/satin/internal/house"
)

// Links to files that are gone are found.
func TestLinks(t *testing.T) {
	with := func(readme string) []string {
		return []string{
			"README.md", readme,
			"LICENSE", "free",
			"Makefile", "build: ## Build\n\tgo build\nV := 1\n.PHONY: build\nsim-tables: build\n",
			"apps/fib/fib.go", "package fib\n",
			"apps/README.md",
			"# Applications\n## How to add one\nSee [up](../README.md) and [here](#how-to-add-one) and `fib/fib.go`.\n",
		}
	}
	check(t, house.Links, []ruleCase{
		{"what is there", with(
			"# Satin\n[a](apps/README.md) [b](apps/README.md#how-to-add-one) ![c](LICENSE \"free\") [d](https://example.org/gone) [e](apps)\n" +
				"`apps/fib/fib.go` `apps/fib/` `apps/*` `make build` `make sim-tables` `some/thing/else` `go build ./...` `n/2` `x := f(n)`\n" +
				"```\n[x](gone.md)\nmake build\n```\n"), nil},
		{"a link to a file that is gone", with("# Satin\n\n[a](docs/gone.md)\n"),
			[]string{"README.md:3: link docs/gone.md: there is no such file"}},
		{"a link to a heading that is gone", with("[a](apps/README.md#gone) [b](#nowhere)\n"),
			[]string{"README.md:1: link apps/README.md#gone: there is no such heading", "README.md:1: link #nowhere"}},
		{"a path that is gone", with("`apps/tsp/tsp.go`, `apps/gone/*` and `NEWS.md`\n"),
			[]string{"README.md:1: `apps/tsp/tsp.go`", "README.md:1: `apps/gone/*`", "README.md:1: `NEWS.md`"}},
		{"a make target that is gone", with("Run `make love`.\n\n```\n$ make war\n```\n"),
			[]string{"README.md:1: `make love`: the Makefile has no such target",
				"README.md:4: make war: the Makefile has no such target"}},
		{"a document in a folder", []string{"docs/a.md", "[a](b.md) [c](../docs/a.md)\n"},
			[]string{"docs/a.md:1: link b.md"}},
	})
}

// A room that the page of the architecture does not name between backquotes is found, and a tree without that page has
// none to name.
func TestNamedRooms(t *testing.T) {
	check(t, house.NamedRooms, []ruleCase{
		{"no page", []string{"README.md", "# Satin\n"}, nil},
	})
	tree, err := house.Load(fstest.MapFS{"go.mod": {Data: []byte("module m\n")},
		"docs/architecture.md": {Data: []byte("`steal` and runs\n")}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(house.NamedRooms(tree), "\n")
	if strings.Contains(text, "`steal`") || !strings.Contains(text, "`runs` is not there") ||
		!strings.Contains(text, "`.` is not there") {
		t.Error(text)
	}
}
