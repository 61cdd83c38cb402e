package peer

import (
	"bytes"
	"os"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/peer/control"
)

// autogroups is where Linux says whether it weighs sessions, and not threads, against each other.
const autogroups = "/proc/sys/kernel/sched_autogroup_enabled"

// examinePriority is about how much jobs yield to what else runs on this machine.
func (d *doctor) examinePriority() control.Finding {
	if d.cfg.FullPriority {
		return priorityFinding("at normal priority, as the setting priority says", true, false)
	}
	text, lowest := engine.IdlePriority()
	on, err := os.ReadFile(autogroups) // only Linux has it
	return priorityFinding(text, lowest, err == nil && bytes.HasPrefix(on, []byte("1")))
}

// priorityFinding says how jobs run, whether that is what the settings want, and whether the kernel looks at it only
// within a session: what then makes processes of jobs yield is that each is a session that weighs as little as can be.
func priorityFinding(text string, wanted, bySession bool) control.Finding {
	f := control.Finding{Check: "priority", Level: control.Good, Text: "jobs run " + text}
	switch {
	case !wanted:
		f.Level = control.Warning
		f.Fix = "let fewer cores compute, by the setting workers, where programs beside it become slow"
	case bySession:
		f.Text += "; as this kernel weighs sessions (" + autogroups + " is 1), their processes are some of their own"
	}
	return f
}
