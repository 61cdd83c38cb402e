package gene

import (
	"cmp"
	"slices"
)

// Sequence is a piece of DNA, RNA or protein: letters from A to Z.
type Sequence struct {
	Name    string
	Letters []byte
}

// Scoring says what an alignment is worth: Match for two equal letters, Mismatch, which is negative, for two
// that differ, less Gap for each letter that stands against none.
type Scoring struct{ Match, Mismatch, Gap int32 }

// score is the best local alignment's worth (Smith, Waterman, "Identification of common molecular
// subsequences", 1981), with linear gaps. row has room for as many numbers as b has letters.
func (s *Scoring) score(a, b []byte, row []int32) (best int32) {
	match, mismatch, gap := s.Match, s.Mismatch, s.Gap
	row = row[:len(b)]
	clear(row)
	for _, x := range a {
		var diagonal, left int32
		for j, above := range row {
			pair := mismatch
			if x == b[j] {
				pair = match
			}
			left = max(0, diagonal+pair, max(above, left)-gap)
			row[j], diagonal = left, above
			best = max(best, left)
		}
	}
	return best
}

// Hit is how well a sequence of the database, by its number from 0, fits a query.
type Hit struct {
	Score   int32
	Subject int
}

// compare puts better hits first; of equals the one that stands first in the database.
func (h Hit) compare(g Hit) int {
	return cmp.Or(cmp.Compare(g.Score, h.Score), cmp.Compare(h.Subject, g.Subject))
}

// merge gives the best k of two lists of hits, which are in order and have none in common.
func merge(a, b []Hit, k int) []Hit {
	merged := make([]Hit, 0, min(len(a)+len(b), k))
	for len(merged) < k && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].compare(b[0]) < 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return merged
}

// longest is how many letters the longest has.
func longest(list []Sequence) (n int) {
	for _, s := range list {
		n = max(n, len(s.Letters))
	}
	return n
}

// best gives the best k hits of a query among the subjects from the given number on.
func (s *Scoring) best(query Sequence, subjects []Sequence, from, k int) []Hit {
	row := make([]int32, longest(subjects))
	hits := make([]Hit, len(subjects))
	for i, t := range subjects {
		hits[i] = Hit{s.score(query.Letters, t.Letters, row), from + i}
	}
	slices.SortFunc(hits, Hit.compare)
	return slices.Clone(hits[:min(k, len(hits))])
}
