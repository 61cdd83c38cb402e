package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// portions is a page that adds up what soaks have come to: a row each, of seeds that no other row has.
type portions struct {
	path string
	rows []portion
}

type portion struct {
	from, to uint64 // seeds, to included
	of       string // what was run: a commit
	failed   []string
}

const portionsHead = `# A soak in portions

Schedules as on [exactness](sim-exact.md), run by the hour: each row is a portion of seeds that no other has, with what was run. One schedule in 8 is
one in which nothing excuses that work is done again whose outcome somebody has (nothing-in-vain).

| from | to | schedules | of | violations | their seeds |
|---|---|---|---|---|---|
`

// openPortions reads a page, which need not be there yet.
func openPortions(path string) (*portions, error) {
	p := &portions{path: path}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	} else if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 8 {
			continue
		}
		from, err := strconv.ParseUint(strings.TrimSpace(cells[1]), 10, 64)
		if err != nil {
			continue // a head
		}
		to, err := strconv.ParseUint(strings.TrimSpace(cells[2]), 10, 64)
		if err != nil || to < from {
			return nil, fmt.Errorf("%s: %q is no portion", path, strings.TrimSpace(line))
		}
		p.rows = append(p.rows, portion{from, to, strings.TrimSpace(cells[4]), strings.Fields(cells[6])})
	}
	return p, nil
}

// next is the first seed after all portions.
func (p *portions) next() (seed uint64) {
	for _, r := range p.rows {
		seed = max(seed, r.to+1)
	}
	return seed
}

// write replaces the page by one with another portion.
func (p *portions) write(last portion) error {
	var b strings.Builder
	b.WriteString(portionsHead)
	var schedules, failed uint64
	for _, r := range append(p.rows[:len(p.rows):len(p.rows)], last) {
		fmt.Fprintf(&b, "| %d | %d | %d | %s | %d | %s |\n", r.from, r.to, r.to-r.from+1, r.of, len(r.failed),
			strings.Join(r.failed, " "))
		schedules, failed = schedules+r.to-r.from+1, failed+uint64(len(r.failed))
	}
	fmt.Fprintf(&b, "\n%d schedules, %d violations. `make soak SEEDS=N` adds a portion.\n", schedules, failed)
	if err := os.WriteFile(p.path+".new", []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(p.path+".new", p.path)
}
