package library

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"
)

// File is a module on the disk.
type File struct {
	Hash Hash
	Size int64         // bytes, with what was compiled of it
	Used time.Duration // when it was last used, by the core's clock; of earlier lives: below 0
}

// shelf is the account of what is on the disk.
type shelf struct {
	most  int64
	files map[Hash]*File
	users map[Hash]map[string]bool // runs that need it, whether it is here or not
}

func newShelf(most int64) shelf {
	return shelf{most: most, files: map[Hash]*File{}, users: map[Hash]map[string]bool{}}
}

func (s *shelf) has(h Hash) bool { return s.files[h] != nil }

func (s *shelf) put(f File) { s.files[f.Hash] = &f }

func (s *shelf) remove(h Hash) { delete(s.files, h) }

func (s *shelf) resize(h Hash, size int64) {
	if f := s.files[h]; f != nil {
		f.Size = size
	}
}

func (s *shelf) use(now time.Duration, h Hash, run string) {
	if s.users[h] == nil {
		s.users[h] = map[string]bool{}
	}
	s.users[h][run] = true
	if f := s.files[h]; f != nil {
		f.Used = now
	}
}

// unuse gives those that nobody needs any more and that are not on the disk, though what was compiled of them may be.
func (s *shelf) unuse(run string) (gone []Hash) {
	for _, h := range sorted(s.users) {
		users := s.users[h]
		if delete(users, run); len(users) == 0 {
			delete(s.users, h)
			if !s.has(h) {
				gone = append(gone, h)
			}
		}
	}
	return gone
}

// list gives the files, the one used longest ago first.
func (s *shelf) list() (list []File) {
	for f := range maps.Values(s.files) {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.Used, b.Used), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	return list
}

func (s *shelf) size() (n int64) {
	for _, f := range s.files {
		n += f.Size
	}
	return n
}

func (s *shelf) fits(more int64) bool { return s.size()+more <= s.most }

// trim drops files that no run needs until so many bytes more would fit; none if that is in vain.
func (s *shelf) trim(more int64) (dropped []Hash) {
	needed := int64(0)
	for h := range s.users {
		if f := s.files[h]; f != nil {
			needed += f.Size
		}
	}
	if needed+more > s.most && more > 0 {
		return nil
	}
	for _, f := range s.list() {
		if s.fits(more) {
			break
		}
		if len(s.users[f.Hash]) == 0 {
			s.remove(f.Hash)
			dropped = append(dropped, f.Hash)
		}
	}
	return dropped
}
