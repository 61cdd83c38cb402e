package settings

// StateNames are all that a peer keeps in StateDir, beside what it is just writing (durable.Unfinished). What else is
// there is somebody else's.
func StateNames() []string {
	return []string{
		"allowed", "answers", "cancelled", "checkpoints", "constants", "control", "daemon.log", "daemon.log.1",
		"dashboard.json", "deaths", "deposits", "held", "hours.json", "incarnation", "invitations", "lies", "lock",
		"modules", "owed", "own", "peer.key", "peers", "port", "published", "receipts", "records", "refused",
		"revocations", "revoked", "swarm", "swarm.key",
	}
}
