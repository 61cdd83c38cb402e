package settings

import "strings"

// keyNames lists the names that may stand in the file.
func keyNames() (names []string) {
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}

// farthest is how many letters may differ in a name for it to be suggested instead, if that is less than half
// of them.
const farthest = 3

// Nearest is the one of some names that somebody may have meant who wrote another one; "" if none is near enough.
func Nearest(name string, names []string) string {
	best, least := "", farthest+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < least && 2*d < len(n) {
			best, least = n, d
		}
	}
	return best
}

// suggest is "; did you mean x?" if a name is near enough, else a list of all.
func suggest(name string, names []string) string {
	best := Nearest(name, names)
	if best == "" {
		return ": one of " + strings.Join(names, ", ")
	}
	return "; did you mean " + best + "?"
}

// distance is Levenshtein's: how many letters must be put in, left out or changed to make b of a. Names
// longer than any of ours are far.
func distance(a, b string) int {
	const long = 64
	if len(a) > long || len(b) > long {
		return long
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// stray says what is wrong with a variable that is no setting.
func stray(name string) string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.env())
	}
	text := name + " in the environment is no setting"
	if near := suggest(name, append(names, FileVariable)); strings.HasPrefix(near, ";") {
		text += near
	}
	return text
}
