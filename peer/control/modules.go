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
	Publisher string    `json:"publisher,omitempty"` // peer ID of who signed for it
	Published time.Time `json:"published,omitzero"`
	Summary   string    `json:"summary,omitempty"`
}

// A Publication asks for a module to be published.
type Publication struct {
	Name    string `json:"name"` // a word of small letters, digits and hyphens
	Summary string `json:"summary"`
	Bytes   []byte `json:"bytes"`
}
