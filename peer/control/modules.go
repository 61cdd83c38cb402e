package control

// A ModuleFile is a module.
type ModuleFile struct {
	Bytes []byte `json:"bytes"` // at most 16 MiB
}

// A ModuleInfo is a module that the daemon knows.
type ModuleInfo struct {
	Module string `json:"module"` // its hash, 64 hexadecimal digits
	Size   int64  `json:"size"`   // bytes on the disk, with what was compiled of it
	Here   bool   `json:"here"`   // this peer has it
}
