package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The spread is between the quartiles: one outlier moves nothing.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values            []float64
		low, median, high float64
	}{
		{[]float64{7}, 7, 7, 7},
		{[]float64{3, 1}, 1.5, 2, 2.5},
		{[]float64{5, 1, 4, 2, 3}, 2, 3, 4},
		{[]float64{100, 1, 2, 3, 4}, 2, 3, 4}, // one outlier moves nothing
	} {
		low, median, high := spread(c.values)
		if low != c.low || median != c.median || high != c.high {
			t.Errorf("spread(%v) = %v, %v, %v, want %v, %v, %v", c.values, low, median, high, c.low, c.median, c.high)
		}
	}
}

// A target is met or missed by the median, narrowly if a quartile is on its other side; nothing is judged by too few
// values.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		figure
		want string
	}{
		{figure{values: []float64{1, 2, 3}}, ""},
		{figure{atMost: 5}, ""},
		{figure{values: []float64{1, 2, 3}, atMost: 5}, "met"},
		{figure{values: []float64{6, 7, 8}, atMost: 5}, "missed"},
		{figure{values: []float64{4, 5, 6}, atMost: 5}, "met, narrowly"},
		{figure{values: []float64{2, 4, 8}, atMost: 3.5}, "missed, narrowly"},
		{figure{values: []float64{2, 2, 2}, least: 1.9}, "met"},
		{figure{values: []float64{1, 2, 3}, atMost: 5, fewest: 3}, "met"},
		{figure{values: []float64{1, 2}, atMost: 5, fewest: 3}, "too few values"},
		{figure{values: []float64{1.7, 1.8, 1.9}, least: 1.9}, "missed"},
	} {
		if got := c.verdict(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.figure, got, c.want)
		}
	}
}

// A page's table reads well as text, and says of a figure without values why there are none.
func TestTableIsMarkdown(t *testing.T) {
	text := table{title: "Spawns", notes: []string{"quiet"}, figures: []figure{
		{name: "fib", values: []float64{4}, form: "%.1f ns", atMost: 4.5},
		{name: "oneTBB", form: "%.1f x", least: 10, remark: "not installed"},
	}}.String()
	want := `## Spawns

| figure | median        | quartiles        | target    |     |
| ------ | ------------- | ---------------- | --------- | --- |
| fib    | 4.0 ns        | 4.0 ns to 4.0 ns | <= 4.5 ns | met |
| oneTBB | not installed |                  | >= 10.0 x |     |

- quiet
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// Without names all sections run and make the page; some of them make none, and a name that is none gives the names.
func TestChoose(t *testing.T) {
	engine, err := choose(nil)
	if err != nil || len(engine) != 6 {
		t.Errorf("no name chooses %d sections, %v", len(engine), err)
	}
	if page, err := pageOf(engine); err != nil || page != enginePage {
		t.Errorf("the engine's sections make the page %q, %v", page, err)
	}
	some, err := choose([]string{"udp", "fib"})
	if err != nil || len(some) != 2 || some[0].name != "udp" {
		t.Errorf("got %v, %v", some, err)
	}
	if _, err := pageOf(some); err == nil {
		t.Error("two sections of five make a page")
	}
	if _, err := choose([]string{"fob"}); err == nil || !strings.Contains(err.Error(), "fib, apps") {
		t.Errorf("an unknown section gives %v", err)
	}
}

// Guards that -write replaces the pages that are read, and that whoever is refused it hears of every section.
func TestPagesAreTheDocuments(t *testing.T) {
	_, err := pageOf(sections)
	for _, s := range sections {
		if _, gone := os.Stat(filepath.Join(resultsDir, s.page)); gone != nil {
			t.Errorf("section %s: %v", s.name, gone)
		}
		if err == nil || !slices.Contains(strings.Fields(strings.ReplaceAll(err.Error(), ",", " ")), s.name) {
			t.Errorf("no word of section %s: %v", s.name, err)
		}
	}
}

// Guards that a page says which command made it: there is a target of make for most, each of another name.
func TestPagesSayTheirCommand(t *testing.T) {
	if text := heading(sections[:2], 3); !strings.Contains(text, "`cd internal/bench && go run . -rounds 3 fib apps`") {
		t.Error(text)
	}
}

// Guards the interval of a median: the ranks of the tables of the sign test, and none where there are too few values.
func TestMedianWithin(t *testing.T) {
	for n, rank := range map[int]int{5: 0, 6: 1, 10: 2, 30: 10} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(n - i) // n to 1
		}
		low, high := medianWithin(values)
		least, most := float64(rank), float64(n+1-rank)
		if rank == 0 {
			least, most = math.Inf(-1), math.Inf(1)
		}
		if low != least || high != most {
			t.Errorf("of %d values: %v to %v, want rank %d from each end", n, low, high, rank)
		}
	}
}

// Guards that the owner's loss is judged by as many pairs as its median has an interval for, and not by fewer.
func TestYieldIsJudgedByEnoughPairs(t *testing.T) {
	for pairs := 1; pairs <= 30; pairs++ {
		text := yieldTable(make([]float64, pairs), make([]float64, pairs), make([]float64, pairs)).String()
		low, _ := medianWithin(make([]float64, pairs))
		few := math.IsInf(low, -1)
		if few != strings.Contains(text, "| too few values |") || few == strings.Contains(text, "| met ") ||
			few != strings.Contains(text, "too few pairs") || strings.Contains(text, "Inf") {
			t.Errorf("of %d pairs:\n%s", pairs, text)
		}
	}
}
