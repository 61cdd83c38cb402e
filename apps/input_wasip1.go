package apps

import "unsafe"

//go:wasmimport satin1 file
func hostFile(name unsafe.Pointer, n uint32, to unsafe.Pointer) uint32

//go:wasmimport satin1 read
func hostRead(name unsafe.Pointer) int64

//go:wasmimport satin1 result
func hostResult(to unsafe.Pointer)

// readInput reads a file that was given to the run. A module has no others.
func readInput(path string, _ int64) ([]byte, error) {
	var name [32]byte
	if hostFile(unsafe.Pointer(unsafe.StringData(path)), uint32(len(path)), unsafe.Pointer(&name)) == 0 {
		return nil, &InputError{What: path, Got: "no file",
			Want: "a file given to the module: --file " + path + "=PATH"}
	}
	data := make([]byte, hostRead(unsafe.Pointer(&name)))
	hostResult(unsafe.Pointer(unsafe.SliceData(data)))
	return data, nil
}
