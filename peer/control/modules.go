package control

import "time"

// A ModuleFile is a module.
type ModuleFile struct {
	Bytes []byte `json:"bytes"` // at most 16 MiB
}

// A ModuleInfo is a module that the daemon knows.
type ModuleInfo struct {
	Module string `json:"module"` // its hash, 64 hexadecimal digits
	Size   int64  `json:"size"`   // bytes; of one that is here and was not published with what was compiled of it
	Here   bool   `json:"here"`   // this peer has it

	// Of a published one; a module may be published several times.
	Name      string    `json:"name,omitempty"`
	Publisher string    `json:"publisher,omitempty"` // peer ID of whoever signed for it
	Published time.Time `json:"published,omitzero"`
	Summary   string    `json:"summary,omitempty"`
	Args      string    `json:"args,omitempty"` // usage of its arguments, "N"

	Warning string `json:"warning,omitempty"` // what whoever has just published it should know
}

// A Publication asks for a module to be published.
type Publication struct {
	Name    string `json:"name"` // a word of small letters, digits and hyphens
	Summary string `json:"summary"`
	Args    string `json:"args"`
	Bytes   []byte `json:"bytes"`
}

// Modules says whose modules a peer runs, and what it has.
type Modules struct {
	Whose string `json:"whose"` // setting modules: "members", "published" or "off"
	Here  int    `json:"here"`  // modules on the disk
	Bytes int64  `json:"bytes"` // that they take, with what was compiled of them
	// Waiting is how many runs wait for their module.
	Waiting int `json:"waiting,omitempty"`
}

// Help is who can take part in a run when it begins, as far as its owner knows.
type Help struct {
	Can    int    `json:"can"` // members besides the owner
	Cannot []Lack `json:"cannot,omitempty"`
}

// A Lack is why some members cannot.
type Lack struct {
	Why   string `json:"why"` // "do not answer", "have version 1a2b3c4d of life ...: WHAT TO DO"
	Peers int    `json:"peers"`
}
