package visitor

import "github.com/satin-peer/satin/peer/session"

// segmentsRoom bounds what is told of segments at a time, in bytes.
const segmentsRoom = 64 << 10

// Segments are those of one part in a run.
type Segments struct {
	Part uint64 // which part it is, from 1; 0: there is none, and nothing new of an earlier one
	// List has those that ended since it was asked last, oldest first, then those that run.
	List []session.Segment
	More bool // there was no room for all that have ended
}

// Segments gives what is new. It is for one caller. Of a part that has ended it gives the end once, if the next part
// has not begun before that. It may wait some ms for the engine.
func (v *Visitor) Segments() Segments {
	v.mu.Lock()
	defer v.mu.Unlock()
	news := v.over
	v.over = Segments{}
	if news.Part == 0 && v.session != nil {
		news, v.told = segmentsOf(v.session, v.part, v.told)
	}
	return news
}

// lastPart is the number of the present part, or of the last one.
func (v *Visitor) lastPart() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.part
}

// segmentsOf gives what is new of a part's session after a change, and the number of the last one.
func segmentsOf(s *session.Session, part, told uint64) (Segments, uint64) {
	list, told, more, _ := s.Segments(told, segmentsRoom)
	return Segments{Part: part, List: list, More: more}, told
}
