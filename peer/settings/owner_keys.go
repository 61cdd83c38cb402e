package settings

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/peer/preferences"
)

// ownerKeys are what the owner of the machine allows beside his own work, which changes while the daemon runs.
func ownerKeys() []*key {
	here := numberKey("workers_here", func(s *Settings) *int { return &s.WorkersHere }, preferences.Same, MaxWorkers,
		"Cores to use while somebody is at the machine; 0: none, -1: as many as else.",
		"Together with workers it is what may be used while he is there, and while he is away.")
	here.title = "The owner of this machine"
	away := durationKey("away_after", func(s *Settings) *time.Duration { return &s.AwayAfter }, MinAway, MaxAway, "5m",
		"How long nobody must have touched keyboard, mouse or terminal to be away.")
	share := numberKey("cpu_share", func(s *Settings) *int { return &s.CPUShare }, 1, 100,
		"Percent of their time for which these cores are used, on the average over a minute.",
		"They rest in turns of a twentieth of a second; a job that cannot be stopped goes on, and the rest comes after it.")
	battery := boolKey("on_battery", func(s *Settings) *bool { return &s.OnBattery },
		"Compute while the machine runs on its battery.")
	hours := &key{
		name: "hours", word: "HOURS", kind: listKind, want: `hours such as "22:00-06:00" or "mon-fri/18:00-08:00", at most 64`,
		about: []string{"When to compute, in local time.",
			`Such as "22:00-06:00" for every day or "mon-fri/18:00-08:00" for some; an end that is not after the begin is on the next day. Empty: always.`},
		field: func(s *Settings) any { return &s.Hours },
		check: func(s *Settings) bool {
			return !slices.ContainsFunc(s.Hours, func(h string) bool { _, ok := preferences.ParseHours(h); return !ok })
		},
	}
	programs := &key{
		name: "yield_to", word: "PROGRAM", kind: listKind, want: "names of programs without directories, at most 64",
		about: []string{"Programs that want the machine for themselves: while one runs, nothing is computed.",
			`They are named as their processes are, such as "blender".`},
		field: func(s *Settings) any { return &s.YieldTo },
		check: func(s *Settings) bool {
			return !slices.ContainsFunc(s.YieldTo, func(p string) bool { return strings.ContainsAny(p, `/\`) })
		},
	}
	hottest := numberKey("hottest", func(s *Settings) *int { return &s.Hottest }, MinHottest, MaxHottest,
		"Degrees Celsius at which computing stops until the machine has cooled down by ten; 0: not looked at.",
		"The hottest sensor counts that the system tells of.").orZero()
	share.word, hottest.word = "PERCENT", "DEGREES"
	list := slices.Concat([]*key{here, away, share, battery, hours, programs, hottest}, trafficKeys())
	for _, k := range list {
		k.owner = true
	}
	return list
}

// trafficKeys are about what goes over the network.
func trafficKeys() []*key {
	up := numberKey("upload", func(s *Settings) *int { return &s.Upload }, MinTraffic, MaxTraffic,
		"Kilobytes (1000 bytes) a second that may be sent to other peers; 0: as many as can be.",
		"What keeps the peer a member is not held back, but counted.").orZero()
	down := numberKey("download", func(s *Settings) *int { return &s.Download }, MinTraffic, MaxTraffic,
		"Kilobytes (1000 bytes) a second that may be received from other peers; 0: as many as can be.").orZero()
	up.word, down.word = "KB", "KB"
	return []*key{up, down, boolKey("on_metered", func(s *Settings) *bool { return &s.OnMetered },
		"Compute while the network counts, or costs, what goes through it.",
		"Linux (NetworkManager) and Windows tell; on other systems it is not known, and forbids nothing.")}
}

// Prefers are the preferences of the owner of the machine, as the settings say them; most is how many cores 0 workers
// are.
func (s *Settings) Prefers(most int) preferences.Preferences {
	p := preferences.Preferences{Workers: s.Workers, Here: s.WorkersHere, AwayAfter: s.AwayAfter,
		OnBattery: s.OnBattery, OnMetered: s.OnMetered, YieldTo: s.YieldTo, Hottest: s.Hottest, Rest: 100 - s.CPUShare,
		Up: int64(s.Upload) * 1000, Down: int64(s.Download) * 1000, Memory: int64(s.Memory) << 20,
		Disk: int64(s.RunDisk) << 20}
	if p.Workers == 0 {
		p.Workers = most
	}
	for _, h := range s.Hours {
		if hours, ok := preferences.ParseHours(h); ok {
			p.Hours = append(p.Hours, hours)
		}
	}
	return p
}

// OwnerNames are the settings that are what the owner of the machine allows, in the order of the commented file: those
// that the page shows, and that a daemon takes up while it runs.
func OwnerNames() (names []string) {
	for _, k := range keys() {
		if k.owner {
			names = append(names, k.name)
		}
	}
	return names
}

// workersKey is the one of them that says how many cores there are at most.
const workersKey = "workers"

// When says for people when a setting that was changed takes effect.
func When(name string) string {
	switch {
	case !IsOwners(name):
		return "it takes effect when the daemon is started again"
	case name == workersKey: // see NotLive
		return "a daemon that runs takes it up within two seconds, and more workers than it was started with when it is " +
			"started again"
	}
	return "a daemon that runs takes it up within two seconds"
}

// IsOwners says whether a setting is what the owner of the machine allows, which a daemon that runs takes up from its
// file.
func IsOwners(name string) bool {
	k := keyNamed(name)
	return k != nil && k.owner
}

// An OwnerValue is what the owner of the machine allows of one thing.
type OwnerValue struct {
	Key, About string
	Kind       string // "number", "yes_or_no", "text" or "list"
	Values     []string
	// Fixed is the flag or the variable of the environment that wins over the file; "" if the file counts.
	Fixed string
}

// Owner lists what the owner of the machine allows, in the order of the commented file.
func (l *Loaded) Owner() (list []OwnerValue) {
	for _, k := range keys() {
		if !k.owner {
			continue
		}
		v := OwnerValue{Key: k.name, About: strings.Join(k.about, " "), Kind: "text"}
		switch field := k.field(&l.Settings).(type) {
		case *bool:
			v.Kind, v.Values = "yes_or_no", []string{strconv.FormatBool(*field)}
		case *int:
			v.Kind, v.Values = "number", []string{strconv.Itoa(*field)}
		case *time.Duration:
			v.Values = []string{field.String()}
		case *[]string:
			v.Kind, v.Values = "list", append([]string{}, *field...)
		}
		if from := l.origins[k.name]; strings.HasPrefix(from, "--") || strings.HasPrefix(from, envPrefix) {
			v.Fixed = from
		}
		list = append(list, v)
	}
	return list
}

// NotLive names the settings that differ in two loads and are not taken up by a daemon that runs with the first: of the
// owner's that is more workers, as its engines have no more.
func NotLive(a, b *Loaded) (names []string) {
	more := a.Workers > 0 && (b.Workers == 0 || b.Workers > a.Workers)
	for _, k := range keys() {
		if k.name == workersKey && more || !k.owner && k.text(&a.Settings) != k.text(&b.Settings) {
			names = append(names, k.name)
		}
	}
	return names
}
