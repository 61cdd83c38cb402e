package steal

import "slices"

// show prints what a core wants, carries out the orders and takes the messages on their way.
func (s *stage) show(x *actor, o Output) {
	orders, messages := slices.Clone(o.Orders), slices.Clone(o.Messages)
	for _, m := range messages {
		s.lastMsg++
		s.flying = append(s.flying, flying{n: s.lastMsg, m: m})
		s.printf("  #%d %s -> %s %s\n", s.lastMsg, m.From, m.To, describe(m))
	}
	for _, r := range orders {
		s.obey(x, r)
	}
}

func (s *stage) obey(x *actor, r Order) {
	switch r.Kind {
	case Take:
		n := min(r.Max, len(x.queue))
		if x.mute {
			s.printf("  %s: take %d\n", x.name, r.Max)
			return
		}
		jobs := slices.Clone(x.queue[:n])
		x.queue = slices.Delete(x.queue, 0, n)
		s.printf("  %s: take %d, engine gives %d\n", x.name, r.Max, n)
		x.load.Queued = len(x.queue)
		s.show(x, x.core.Taken(s.now, r.Ticket, jobs))
		s.report(x)
	case RunSegment:
		x.load.Idle--
		x.load.Runs++
		x.running = append(x.running, r.Segment)
		s.printf("  %s: run segment %d, job %s%s\n", x.name, r.Segment, r.Job.Path, restarted(r.Job.Restarted))
		s.report(x)
	case PutBack:
		s.fill(x, r.Ref, "")
		j := x.jobs[r.Ref]
		j.Restarted = j.Restarted || r.Restarted
		s.printf("  %s: put back job %s%s\n", x.name, j.Path, restarted(r.Restarted))
		x.queue = slices.Insert(x.queue, 0, Taken{Ref: r.Ref, Job: j})
		s.report(x)
	case Deliver:
		s.fill(x, r.Ref, string(r.Outcome))
		s.printf("  %s: deliver %q to job %s\n", x.name, r.Outcome, x.jobs[r.Ref].Path)
	case AbortSegment:
		s.printf("  %s: abort segment %d\n", x.name, r.Segment)
		x.running = slices.DeleteFunc(x.running, func(id SegmentID) bool { return id == r.Segment })
		x.load.Idle++
		s.report(x)
	case Tell:
		s.lastMsg++
		s.flying = append(s.flying, flying{n: s.lastMsg, news: r.News})
		s.printf("  #%d %s -> all %s\n", s.lastMsg, r.News.From, describeNews(r.News))
	case Watch:
		s.printf("  %s: watch %d paths\n", x.name, r.Orphans.Len())
	case Answer:
		s.printf("  %s: the answer is %q\n", x.name, r.Outcome)
	}
}

func (s *stage) fill(x *actor, r Ref, outcome string) {
	if was, filled := x.slots[r]; filled {
		s.printf("  %s: ERROR: slot %d was filled with %q already\n", x.name, r, was)
	}
	if outcome != "" {
		x.slots[r] = outcome
	}
}

func restarted(r bool) string {
	if r {
		return " (restarted)"
	}
	return ""
}
