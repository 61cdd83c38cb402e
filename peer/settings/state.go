package settings

// LogFile is where a daemon in the background writes in StateDir, and, with ".1" behind it, what was there before.
const LogFile = "daemon.log"

// StateNames are all that a peer keeps in StateDir, beside what it is just writing (durable.Unfinished). What else is
// there is somebody else's.
func StateNames() []string {
	return []string{
		"allowed", "answers", "cancelled", "checkpoints", "constants", "control", LogFile, LogFile + ".1",
		"dashboard.json", "dates", "deaths", "deposits", "held", "hours.json", "incarnation", "invitations", "lies", "lock",
		"modules", "owed", "own", "paused", "peer.key", "peers", "port", "published", "receipts", "records", "refused",
		"revocations", "revoked", "swarm", "swarm.key",
	}
}
