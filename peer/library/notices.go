package library

import (
	"bytes"
	"cmp"
	"slices"
)

// A Notice says that a member stands for a module under a name. Signature and membership were checked outside.
type Notice struct {
	Author  string
	By      []string // by whom its author is a member
	Name    string
	Module  Hash
	Size    int64
	Summary string
	Args    string // usage of its arguments
	At      int64  // seconds since 1970, by its author's clock: of one author and name the last one counts
	Sealed  []byte // as it travels
}

const (
	// maxNotices bounds those that are kept, maxNoticesOf those of one author, and maxNoticesBy those of all who
	// are members by one other member, which can make as many as it likes.
	maxNotices   = 512
	maxNoticesOf = 16
	maxNoticesBy = 64
)

// Notices are what members have published, as one peer knows it. The zero value is none.
type Notices struct{ list []Notice }

// Put takes a notice in, and says whether it is news.
func (n *Notices) Put(x Notice) bool {
	same := func(o Notice) bool { return o.Author == x.Author && o.Name == x.Name }
	if i := slices.IndexFunc(n.list, same); i >= 0 {
		if cmp.Or(cmp.Compare(x.At, n.list[i].At), bytes.Compare(x.Sealed, n.list[i].Sealed)) <= 0 {
			return false // of two with one time everybody who hears both has the same
		}
		n.list[i] = x
		return true
	}
	if len(n.list) >= maxNotices || n.count(func(o Notice) bool { return o.Author == x.Author }) >= maxNoticesOf {
		return false
	}
	for _, by := range x.By {
		if n.count(func(o Notice) bool { return slices.Contains(o.By, by) }) >= maxNoticesBy {
			return false
		}
	}
	n.list = append(n.list, x)
	return true
}

// Last is when an author has spoken of a name last, by its clock; 0: never.
func (n *Notices) Last(author, name string) (at int64) {
	for _, o := range n.list {
		if o.Author == author && o.Name == name {
			at = o.At
		}
	}
	return at
}

func (n *Notices) count(what func(Notice) bool) (k int) {
	for _, o := range n.list {
		if what(o) {
			k++
		}
	}
	return k
}

// Review drops the notices of those who are no members any more.
func (n *Notices) Review(member func(author string) bool) {
	n.list = slices.DeleteFunc(n.list, func(o Notice) bool { return !member(o.Author) })
}

// Has says whether somebody stands for a module.
func (n *Notices) Has(h Hash) bool {
	return slices.ContainsFunc(n.list, func(o Notice) bool { return o.Module == h })
}

// List gives them by name, author and time.
func (n *Notices) List() []Notice {
	list := slices.Clone(n.list)
	slices.SortFunc(list, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Author, b.Author))
	})
	return list
}

// Told gives some, at most so many, for somebody who may not know them: at each turn the next ones, for what authors
// say of the time may be a lie.
func (n *Notices) Told(most, turn int) []Notice {
	list := n.List()
	if len(list) <= most {
		return list
	}
	from := turn * most % len(list)
	return slices.Concat(list[from:], list[:from])[:most]
}

// Named finds the modules that a name means: NAME, AUTHOR/NAME, or the first digits of a hash are for the caller;
// of several notices of one module there is one.
func (n *Notices) Named(name string) (list []Notice) {
	for _, o := range n.List() {
		if (o.Name == name || o.Author+"/"+o.Name == name) &&
			!slices.ContainsFunc(list, func(p Notice) bool { return p.Module == o.Module }) {
			list = append(list, o)
		}
	}
	return list
}
