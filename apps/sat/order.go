package sat

// order is a heap of the variables without a value, that with the highest activity on top (VSIDS, Moskewicz
// and others, "Chaff", 2001): a variable is the more active the more, and the more recent, conflicts it was
// in. It may contain variables that have a value.
type order struct {
	activity []float64
	bonus    float64 // what a conflict adds; it grows, which lets older conflicts fade
	heap     []uint32
	place    []int32 // by variable: where it is in heap, or -1
}

const (
	fading      = 0.95
	maxActivity = 1e100
)

// begin begins with the variables both of whose literals are in many and short clauses, in the memory that it has.
func (o *order) begin(weights []float64) {
	n := len(weights) / 2
	*o = order{activity: room(o.activity, n), bonus: 1, heap: o.heap[:0], place: room(o.place, n)}
	for v := range n {
		const small = 1e-6 // compared with a conflict
		o.activity[v] = small * weights[2*v] * weights[2*v+1]
		o.place[v] = int32(v)
		o.heap = append(o.heap, uint32(v))
	}
	for i := n/2 - 1; i >= 0; i-- {
		o.down(i)
	}
}

// bump makes a variable more active.
func (o *order) bump(v uint32) {
	o.activity[v] += o.bonus
	if o.activity[v] > maxActivity {
		for i := range o.activity {
			o.activity[i] /= maxActivity
		}
		o.bonus /= maxActivity
	}
	if o.place[v] >= 0 {
		o.up(int(o.place[v]))
	}
}

// fade makes later conflicts count for more.
func (o *order) fade() { o.bonus /= fading }

// top removes the most active variable; false if there is none.
func (o *order) top() (uint32, bool) {
	if len(o.heap) == 0 {
		return 0, false
	}
	v := o.heap[0]
	last := o.heap[len(o.heap)-1]
	o.heap = o.heap[:len(o.heap)-1]
	o.place[v] = -1
	if len(o.heap) > 0 {
		o.heap[0], o.place[last] = last, 0
		o.down(0)
	}
	return v, true
}

// restore puts a variable back.
func (o *order) restore(v uint32) {
	if o.place[v] < 0 {
		o.heap = append(o.heap, v)
		o.place[v] = int32(len(o.heap) - 1)
		o.up(len(o.heap) - 1)
	}
}

func (o *order) up(i int) {
	v := o.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if o.activity[o.heap[parent]] >= o.activity[v] {
			break
		}
		o.set(i, o.heap[parent])
		i = parent
	}
	o.set(i, v)
}

func (o *order) down(i int) {
	v := o.heap[i]
	for {
		child := 2*i + 1
		if child >= len(o.heap) {
			break
		}
		if child+1 < len(o.heap) && o.activity[o.heap[child+1]] > o.activity[o.heap[child]] {
			child++
		}
		if o.activity[o.heap[child]] <= o.activity[v] {
			break
		}
		o.set(i, o.heap[child])
		i = child
	}
	o.set(i, v)
}

func (o *order) set(i int, v uint32) { o.heap[i], o.place[v] = v, int32(i) }
