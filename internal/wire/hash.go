package wire

import "encoding/hex"

// ParseHash reads the 64 hexadecimal digits by which users and files name a SHA-256.
func ParseHash(text string) (h [32]byte, ok bool) {
	b, err := hex.DecodeString(text)
	if ok = err == nil && len(b) == len(h); ok {
		h = [32]byte(b)
	}
	return h, ok
}
