package policy

// RandomStealing is RS: an idle peer asks a random one, any in the swarm with the same chance, and asks again
// until it gets a job (CRS paper, 2.1). It is optimal on one cluster. On C clusters (C-1)/C of the requests
// cross a wide-area link while the worker waits, which costs a quarter to a third of the time at 200 ms
// (Table I).
type RandomStealing struct{}

// Name is "rs".
func (RandomStealing) Name() string { return "rs" }

// Plan keeps one request out for every idle worker.
func (RandomStealing) Plan(v View, p *Plan) {
	for n := v.Idle() - len(v.Flights()); n > 0; n-- {
		victim, ok := RandomAny(v)
		if !ok {
			return
		}
		p.Steal(victim, 1, 0)
	}
}

// Give gives one job to whoever asks.
func (RandomStealing) Give(View, Ask) int { return 1 }
