package session

// A Store keeps outcomes where they survive this process: internal/checkpoint's Log is one.
type Store interface {
	// AppendOutcome takes the outcome of a job, the root's if the path is empty, and returns at once,
	// whatever the disk does, with its voucher. It returns false if it will not be stored. Nothing of it is changed
	// afterwards.
	AppendOutcome(path []uint32, identity [16]byte, outcome, voucher []byte) bool
}
