package arbiter

import "time"

// A throttle has cores used for a part of their time. It is an account of core time: what may be used comes in, what
// is used goes out, as it is granted and then as it was measured. So a job that cannot be stopped in the middle, and
// goes on while nothing is granted, is paid for afterwards, and on the average the part is kept.
type throttle struct {
	owed     time.Duration // core time that may be used; less than 0: more was used than allowed
	granted  time.Duration // of it, since it was measured last
	measured time.Duration // in all, then
}

// maxDebt is for how long nothing is granted at most, whatever was used.
const maxDebt = 30 * time.Second

// turn says how many of the cores may be used for the time d. Rest is the percentage in which they are left alone.
func (t *throttle) turn(cores, rest int, d time.Duration) int {
	all := time.Duration(cores) * d
	t.owed += all * time.Duration(100-rest) / 100
	t.owed = max(min(t.owed, all+d), -maxDebt*time.Duration(cores)) // what nobody wanted is not saved up
	n := max(0, min(cores, int(t.owed/d)))
	t.owed -= time.Duration(n) * d
	t.granted += time.Duration(n) * d
	return n
}

// used says how much core time has been used in all. Figures of runs that end may be missing for a moment.
func (t *throttle) used(all time.Duration) {
	t.owed += t.granted - max(all-t.measured, 0)
	t.granted, t.measured = 0, max(t.measured, all)
}
