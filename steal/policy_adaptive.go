package steal

// Adaptive is the default policy.
type Adaptive struct{}

// Name is "adaptive".
func (*Adaptive) Name() string { return "adaptive" }

// Plan is CRS's with ACRS's draw, asking for several jobs at once.
func (a *Adaptive) Plan(v *View, p *Plan) {
	if v.Idle() == 0 {
		return
	}
	if _, wide := v.InFlight(); wide == 0 {
		if victim, ok := drawByTime(v); ok {
			p.Steal(victim, 4, 0)
		}
	}
	stealLocally(v, p)
}

// Give gives at most half of the jobs that wait.
func (a *Adaptive) Give(v *View, ask Ask) int { return min(ask.Max, max(1, v.Queued()/2)) }
