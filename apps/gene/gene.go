// Package gene compares DNA sequences: it finds the sequences of a database that fit each of some queries
// best, by the score of the best local alignment.
//
// Queries and database are constants that all jobs read. A job halves the queries until it has one, and then the
// database, until its part is small. So a part of the database goes only where it is compared with something.
package gene

import (
	"slices"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.Register("gene.compare", compare, satin.Exact(),
		satin.Small(apps.Instance[Task](setup, "--generate", "3,26,300")))
	satin.Register("gene.part", part, satin.Exact())
}

// Task is a whole problem.
type Task struct {
	Queries, Database satin.Constant[[]Sequence]
	Best              int // hits that are wanted for each query
	Scoring           Scoring
	Leaf              int  // letters of queries times letters of subjects that one job compares
	Flat              bool // master and workers: the root spawns all parts by itself
}

// Part is a part of the queries, compared with a part of the database: those with numbers from the first up to
// but not including the second.
type Part struct {
	Queries, Database satin.Constant[[]Sequence]
	Query, Subject    [2]int
	Best              int
	Scoring           Scoring
	Leaf              int
}

// compare finds the best hits of each query.
func compare(f *satin.Frame, t Task) [][]Hit {
	queries, database := t.Queries.Read(f), t.Database.Read(f)
	p := Part{Queries: t.Queries, Database: t.Database, Query: [2]int{0, len(queries)},
		Subject: [2]int{0, len(database)}, Best: t.Best, Scoring: t.Scoring, Leaf: t.Leaf}
	if !t.Flat {
		return part(f, p)
	}
	hits := make([][]Hit, len(queries))
	var asked []satin.Future[Part, [][]Hit]
	var parts []Part
	var walk func(p Part)
	walk = func(p Part) {
		if halves, ok := p.halve(queries, database); ok {
			walk(halves[0])
			walk(halves[1])
			return
		}
		parts = append(parts, p)
		asked = append(asked, satin.Spawn(f, part, p))
	}
	walk(p)
	for i := len(asked) - 1; i >= 0; i-- { // the newest first, which is cheapest
		for j, found := range asked[i].Get() {
			q := parts[i].Query[0] + j
			hits[q] = merge(hits[q], found, t.Best)
		}
	}
	return hits
}

// part finds the best hits of a part, for each of its queries.
func part(f *satin.Frame, p Part) [][]Hit {
	queries, database := p.Queries.Read(f), p.Database.Read(f)
	halves, ok := p.halve(queries, database)
	if !ok {
		hits := make([][]Hit, 0, p.Query[1]-p.Query[0])
		for _, q := range queries[p.Query[0]:p.Query[1]] {
			hits = append(hits, p.Scoring.best(q, database[p.Subject[0]:p.Subject[1]], p.Subject[0], p.Best))
		}
		return hits
	}
	// Both are jobs, the second on top: so a thief gets a half whoever has the other one.
	first, second := satin.Spawn(f, part, halves[0]), satin.Spawn(f, part, halves[1])
	more := second.Get()
	hits := slices.Clone(first.Get()) // which others may have as well
	if halves[0].Query != halves[1].Query {
		return append(hits, more...)
	}
	for i := range hits {
		hits[i] = merge(hits[i], more[i], p.Best)
	}
	return hits
}

// halve divides a part that is too large for one job: the queries, and when there is one left the database.
func (p Part) halve(queries, database []Sequence) (halves [2]Part, ok bool) {
	if letters(queries[p.Query[0]:p.Query[1]])*letters(database[p.Subject[0]:p.Subject[1]]) <= p.Leaf {
		return halves, false
	}
	halves = [2]Part{p, p}
	switch {
	case p.Query[1]-p.Query[0] > 1:
		middle := (p.Query[0] + p.Query[1]) / 2
		halves[0].Query[1], halves[1].Query[0] = middle, middle
	case p.Subject[1]-p.Subject[0] > 1:
		middle := (p.Subject[0] + p.Subject[1]) / 2
		halves[0].Subject[1], halves[1].Subject[0] = middle, middle
	default:
		return halves, false
	}
	return halves, true
}

func letters(list []Sequence) (n int) {
	for _, s := range list {
		n += len(s.Letters)
	}
	return n
}

// compareAlone is the sequential twin of compare.
func compareAlone(in input) [][]Hit {
	hits := make([][]Hit, len(in.queries))
	for i, q := range in.queries {
		hits[i] = in.Scoring.best(q, in.database, 0, in.Best)
	}
	return hits
}
