package senses

import (
	"strconv"
	"strings"
	"time"
)

// macUntouched reads what "ioreg -c IOHIDSystem" prints: a line with HIDIdleTime in nanoseconds.
func macUntouched(printed string) (since time.Duration, ok bool) {
	_, after, found := strings.Cut(printed, `"HIDIdleTime" = `)
	if !found {
		return 0, false
	}
	digits, _, _ := strings.Cut(after, "\n")
	ns, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	return time.Duration(ns), err == nil && ns >= 0
}

// logindUntouched reads logind's properties IdleHint and IdleSinceHint, which is in microseconds since 1970: all
// sessions are idle, since then. A session that is not idle was touched a moment ago, or will never say.
func logindUntouched(idle bool, sinceMicros uint64, now time.Time) time.Duration {
	if !idle {
		return 0
	}
	return max(now.Sub(time.UnixMicro(int64(sinceMicros))), 0)
}

// networkMetered reads NetworkManager's property Metered (NMMetered): 1 is yes, 3 a guess that it is, as by a phone's
// hotspot.
func networkMetered(how uint32) bool { return how == 1 || how == 3 }

// costMetered reads Windows' NLM_CONNECTION_COST: fixed (so much is paid for), variable (each byte is), over its limit,
// or roaming. The other bits say that it is unrestricted, congested, or comes near the limit.
func costMetered(cost uint32) bool { return cost&(0x2|0x4|0x10000|0x40000) != 0 }
