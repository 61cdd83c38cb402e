package report

// Trust says what an answer rests on.
type Trust struct {
	Mode string `json:"mode"` // "members", "quorum=2", "doubt=1e-4", "spot=0.01"
	// Bound is in which case the answer may be wrong, in words.
	Bound string `json:"bound"`
	// Proved counts the jobs of others that were compared before they were used; Copies and Here how often one of
	// them was computed again for that, by others and by the owner; Disputes how often they had come to different
	// results.
	Proved   uint64 `json:"proved"`
	Copies   uint64 `json:"copies"`
	Here     uint64 `json:"computed_here"`
	Disputes uint64 `json:"disputes"`
	// Nodes counts the nodes that others have committed to: their jobs and the long ones in these; Reran those that
	// were run again here, each without what is below it, which took RerunSeconds of one core.
	Nodes        uint64  `json:"nodes"`
	Reran        uint64  `json:"run_again"`
	RerunSeconds float64 `json:"run_again_seconds"`
	// WrongAtMost is with which probability at most one of these results is wrong, where the records of peers
	// count, and OnLiars how many were used and rest on the word of those alone who were caught later.
	WrongAtMost float64 `json:"wrong_at_most,omitempty"`
	OnLiars     uint64  `json:"on_liars,omitempty"`
	// Caught are the peers that have lied.
	Caught []string `json:"caught,omitempty"`
	// Members is, where all are believed, of how many others results were used, at whatever remove; More says that
	// there were some whose names had no room. Revoked are those of them who are out of the swarm now.
	Members int      `json:"members,omitempty"`
	More    bool     `json:"more_members,omitempty"`
	Revoked []string `json:"revoked,omitempty"`
}

// Sworn is a job of a verified run that was compared, with what those have signed who came to its outcome: anybody can
// see from it later what they have said. Path is as package verify has it.
type Sworn struct {
	Function string   `json:"function"`
	Path     []byte   `json:"path"`
	Argument []byte   `json:"argument"`
	Outcome  []byte   `json:"outcome"`
	Vouchers [][]byte `json:"vouchers"`
}
