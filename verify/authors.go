package verify

import "slices"

// Authors are those on whose word an outcome rests besides its author's own: whoever has computed what it was made of,
// at whatever remove. The zero value is nobody.
type Authors struct {
	Names []string // each once, in order; as whoever signs has them, which are not the PeerIDs of this package
	More  bool     // others too, for whom there was no room
}

// MaxAuthors bounds the names.
const MaxAuthors = 64

// None says whether there is nobody.
func (a *Authors) None() bool { return len(a.Names) == 0 && !a.More }

// Add adds one. Where there is no room for all those stay that come first by their names, whoever was added first: so
// it is the same set on whatever way it was gathered.
func (a *Authors) Add(name string) {
	i, there := slices.BinarySearch(a.Names, name)
	if there {
		return
	}
	if len(a.Names) == MaxAuthors {
		if a.More = true; i == MaxAuthors {
			return
		}
		a.Names = a.Names[:MaxAuthors-1]
	}
	a.Names = slices.Insert(slices.Clip(a.Names), i, name)
}

// Drop takes one out.
func (a *Authors) Drop(name string) {
	if i, there := slices.BinarySearch(a.Names, name); there {
		a.Names = slices.Delete(slices.Clone(a.Names), i, i+1)
	}
}

// Join adds those of others.
func (a *Authors) Join(others *Authors) {
	if len(a.Names) == 0 { // as with what was made of one only: they are shared, since none is ever changed in place
		a.Names, a.More = others.Names, a.More || others.More
		return
	}
	for _, name := range others.Names {
		a.Add(name)
	}
	a.More = a.More || others.More
}
