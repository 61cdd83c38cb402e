package steal

//go:generate go run github.com/satin-peer/satin/internal/wiregen ..

// How long messages are as internal/wire encodes them (CBOR, integer keys) is computed, not encoded: policies and
// simulators ask for it for every message. The methods are generated from the types, in size_gen.go.

// sizeUint is the length of a CBOR head: one byte, and the argument in as few bytes as it takes.
func sizeUint(v uint64) int {
	switch {
	case v < 24:
		return 1
	case v < 1<<8:
		return 2
	case v < 1<<16:
		return 3
	case v < 1<<32:
		return 5
	default:
		return 9
	}
}

func sizeBytes(n int) int { return sizeUint(uint64(n)) + n }

// sizeInt is the length of a number that may be negative.
func sizeInt(v int64) int { return sizeUint(uint64(max(v, ^v))) }

func sizeUints[T ~uint8 | ~uint16 | ~uint32 | ~uint64](list []T) int {
	n := sizeUint(uint64(len(list)))
	for _, v := range list {
		n += sizeUint(uint64(v))
	}
	return n
}
