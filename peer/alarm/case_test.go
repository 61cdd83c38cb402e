package alarm

import "testing"

// bench has what the application says of the two words, and what the job comes to; nil: to no end.
type bench struct {
	said, truth Essence
	own         *Hash
}

func (b *bench) Judge(truth bool) Essence {
	if truth {
		return b.truth
	}
	return b.said
}

func (b *bench) Run() (h Hash, ok bool) {
	if b.own == nil {
		return h, false
	}
	return *b.own, true
}

// Who has lied is shown by what can be seen here alone: by the application where it knows, by the job run again where
// right outcomes are alike, and by two words of one author where they must be. Where none of it shows anything nobody
// has lied.
func TestWhoHasLied(t *testing.T) {
	one, two, three := Hash{1}, Hash{2}, Hash{3}
	is := func(h Hash) Essence { return Essence{Hash: h} }
	wrong, void := Essence{Wrong: true}, Essence{Void: true}
	alike, judged, differs := Case{Alike: true}, Case{Alike: true, Judged: true}, Case{Judged: true}
	for name, c := range map[string]struct {
		Case
		against string // a: the accused, b: another; "": nobody
		bench
		liar PeerID
	}{
		"the accused":                     {alike, "b", bench{own: &two}, "a"},
		"the accuser":                     {alike, "b", bench{own: &one}, "b"},
		"neither is right":                {alike, "b", bench{own: &three}, ""},
		"no end":                          {alike, "b", bench{}, ""},
		"alone, and wrong":                {alike, "", bench{own: &two}, "a"},
		"alone, and right":                {alike, "", bench{own: &one}, ""},
		"alone, no end":                   {alike, "", bench{}, ""},
		"may differ":                      {Case{}, "b", bench{own: &two}, ""},
		"may differ, by one":              {Case{}, "a", bench{own: &two}, ""},
		"both, untried":                   {alike, "a", bench{}, "a"},
		"both, may have shared":           {Case{Alike: true, Silent: true}, "a", bench{own: &three}, "a"},
		"both, and have perhaps":          {Case{Alike: true, Silent: true}, "a", bench{}, ""},
		"wrong by itself":                 {judged, "b", bench{said: wrong}, "a"},
		"wrong by itself, alone":          {judged, "", bench{said: wrong}, "a"},
		"wrong by itself, may differ":     {differs, "b", bench{said: wrong}, "a"},
		"the other is":                    {judged, "b", bench{said: is(one), truth: wrong}, "b"},
		"the other is, may differ":        {differs, "b", bench{said: is(one), truth: wrong}, "b"},
		"says nothing":                    {judged, "b", bench{said: void, truth: wrong, own: &two}, ""},
		"the other says nothing":          {judged, "b", bench{said: is(one), truth: void, own: &two}, ""},
		"judged right, alone":             {judged, "", bench{said: is(one), own: &two}, ""},
		"judged, the same in what counts": {judged, "b", bench{said: is(three), truth: is(three), own: &one}, ""},
		"judged, the accused":             {judged, "b", bench{said: is(three), truth: is(one), own: &one}, "a"},
		"judged, the accuser":             {judged, "b", bench{said: is(one), truth: is(three), own: &one}, "b"},
		"judged, may differ":              {differs, "b", bench{said: is(two), truth: is(one), own: &one}, ""},
		"judged, both, may be right":      {judged, "a", bench{said: is(one), truth: is(one), own: &one}, ""},
		"judged, both, no end":            {judged, "a", bench{said: is(one), truth: is(two)}, ""},
	} {
		c.By, c.Against, c.Said, c.Truth = "a", PeerID(c.against), one, two
		liar, over := c.Plain()
		if !over {
			liar = c.Try(&c.bench)
		}
		if liar != c.liar {
			t.Errorf("%s: the liar is %q, want %q", name, liar, c.liar)
		}
	}
}
