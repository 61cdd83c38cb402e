package gossip

import "container/list"

// recent is a table of the keys used most recently: when it is full, the one that was not used for longest is
// forgotten.
type recent[K comparable, V any] struct {
	most  int
	order *list.List // of *entry, the most recent first
	at    map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, order: list.New(), at: make(map[K]*list.Element)}
}

// peek returns the value of a key, or nil, and does not count as use.
func (r *recent[K, V]) peek(k K) *V {
	if e, ok := r.at[k]; ok {
		return &e.Value.(*entry[K, V]).value
	}
	return nil
}

// get returns the value of a key, made if there is none. It is valid until the key is forgotten.
func (r *recent[K, V]) get(k K) *V {
	if e, ok := r.at[k]; ok {
		r.order.MoveToFront(e)
		return &e.Value.(*entry[K, V]).value
	}
	if r.order.Len() >= r.most {
		oldest := r.order.Back()
		delete(r.at, r.order.Remove(oldest).(*entry[K, V]).key)
	}
	e := &entry[K, V]{key: k}
	r.at[k] = r.order.PushFront(e)
	return &e.value
}

// put sets the value of a key.
func (r *recent[K, V]) put(k K, v V) { *r.get(k) = v }

// remove forgets a key.
func (r *recent[K, V]) remove(k K) {
	if e, ok := r.at[k]; ok {
		r.order.Remove(e)
		delete(r.at, k)
	}
}

func (r *recent[K, V]) len() int { return r.order.Len() }
