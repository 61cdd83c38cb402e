package report

import "time"

// What members tell everybody again and again is paced by how many they are, so that what a peer hears, and what goes
// between clusters, does not grow with the swarm.
const (
	// CardsPerSecond is how many cards all members together renew in a second, at most; CardEvery is the least time
	// between two of one.
	CardsPerSecond = 20
	CardEvery      = 20 * time.Second
	// LoadsPerSecond is how often all members together tell what they do for a run.
	LoadsPerSecond = 10
)

// Every is how long each of so many waits until it tells again, if all together may tell that often.
func Every(members, perSecond int, least time.Duration) time.Duration {
	return max(least, time.Duration(members)*time.Second/time.Duration(perSecond))
}
