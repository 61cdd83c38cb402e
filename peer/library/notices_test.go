package library

import (
	"fmt"
	"testing"
)

// Of one author and name the last notice counts, and nobody drives out what others have published.
func TestNotices(t *testing.T) {
	var n Notices
	put := func(author, name string, module byte, at int64, by ...string) bool {
		return n.Put(Notice{Author: author, By: by, Name: name, Module: Hash{module}, At: at})
	}
	if !put("a", "golomb", 1, 10) || put("a", "golomb", 2, 10) || put("a", "golomb", 2, 9) ||
		!put("a", "golomb", 3, 11) || !put("b", "golomb", 3, 1) || !put("b", "clique", 4, 1) {
		t.Error("the last word of an author does not count, or an earlier one does")
	}
	if list := n.Named("golomb"); len(list) != 1 || list[0].Module != (Hash{3}) {
		t.Errorf("golomb is %+v", list)
	}
	for _, order := range [][2]byte{{8, 9}, {9, 8}} { // one time, for some and for others
		var n Notices
		for _, module := range order {
			n.Put(Notice{Author: "a", Name: "golomb", Module: Hash{module}, At: 1, Sealed: []byte{module}})
		}
		if n.Has(Hash{8}) || !n.Has(Hash{9}) {
			t.Errorf("who hears of %v does not have the same as others", order)
		}
	}
	put("c", "golomb", 5, 1)
	if list := n.Named("golomb"); len(list) != 2 {
		t.Errorf("golomb is %+v", list)
	}
	if list := n.Named("c/golomb"); len(list) != 1 || list[0].Module != (Hash{5}) {
		t.Errorf("c/golomb is %+v", list)
	}
	if n.Has(Hash{1}) || !n.Has(Hash{5}) {
		t.Error("what was replaced is still published, or what is is not")
	}
	for i := range 100 {
		put("a", fmt.Sprint("more", i), 6, 1)
		put(fmt.Sprint("child", i), "child", 7, 1, "inviter")
	}
	if k := n.count(func(o Notice) bool { return o.Author == "a" }); k != maxNoticesOf {
		t.Errorf("one author has %d", k)
	}
	if k := n.count(func(o Notice) bool { return len(o.By) > 0 }); k != maxNoticesBy {
		t.Errorf("those who are members by one have %d", k)
	}
	for i := range 1000 {
		put(fmt.Sprint("other", i), "x", 8, int64(i))
	}
	if len(n.List()) != maxNotices {
		t.Errorf("there are %d", len(n.List()))
	}
	if told := n.Told(2*maxNotices, 1); len(told) != maxNotices {
		t.Errorf("told are %d", len(told))
	}
	told := map[string]bool{}
	for turn := range (maxNotices + 99) / 100 {
		list := n.Told(100, turn)
		for _, o := range list {
			told[o.Author+"/"+o.Name] = true
		}
		if len(list) != 100 {
			t.Errorf("%d are told at once", len(list))
		}
	}
	if len(told) != maxNotices {
		t.Errorf("%d of %d are told in turn", len(told), maxNotices)
	}
	n.Review(func(author string) bool { return author == "b" })
	if len(n.List()) != 2 {
		t.Errorf("there are %+v", n.List())
	}
}
