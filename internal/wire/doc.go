// Package wire turns values into bytes that may cross a network, and bytes that came from one into values.
//
// Everything is CBOR in its deterministic encoding (RFC 8949, 4.2): the same value gives the same bytes, so
// that hashes of encodings identify values. Decoding is strict. It refuses, with an error and without
// allocating much more than the input is long: repeated map keys, fields that the type does not have,
// indefinite lengths, tags, invalid UTF-8 (but see Shared), deep nesting, overlong arrays and maps, and bytes after the
// value.
// No type is chosen by the sender.
//
// Of the codecs Local is for what goes between the processes of one peer, and Told for what it is told by the one that
// runs other people's jobs. Control is for messages of the protocol, whose types carry numbered fields
// (`cbor:"1,keyasint"`); package steal declares its messages that way and knows nothing of this package. Value is for
// arguments and results of applications, which may be larger, and take many times as much memory as bytes: an element
// of a byte becomes as large as its type is. So only the process of the jobs, which has a limit, makes those of
// strangers.
//
// Frames carry encoded messages on a stream: a length of four bytes, big-endian, and the bytes.
//
// Safe for concurrent use, but for a single stream: one reader, one writer. ReadFrame and WriteFrame block as
// their stream does.
package wire

// Versions of the protocols, as they are negotiated. A change that an old peer would misunderstand gets a new number.
const (
	// StealProtocol is that of steal.Message: an Opening, then frames of the Control codec, in one direction.
	StealProtocol = "/satin/steal/1"
	// BulkProtocol carries what is too long for a control stream: an Opening, then bulk frames;
	// acknowledgements come back.
	BulkProtocol = "/satin/bulk/1"
	// SharedProtocol is that of what jobs share, stream.Shared: an Opening, then frames of the Control codec, in one
	// direction. PiecesProtocol is the same for the pieces of values, which wait for each other and for nothing else.
	SharedProtocol = "/satin/shared/1"
	PiecesProtocol = "/satin/pieces/1"
)

// Limits on what comes from another peer, in bytes.
const (
	// MaxControlFrame bounds one control message.
	MaxControlFrame = 256 << 10
	// MaxValue bounds one encoded value in a message.
	MaxValue = 16 << 20
	// MaxOutcome bounds what one job comes to, the answer of a run among it.
	MaxOutcome = 256 << 20
	// MaxLocalFrame bounds one message between the processes of a peer: it may carry several values.
	MaxLocalFrame = 64 << 20
	// MaxChunk bounds one chunk of a bulk transfer: what a steal may have to wait for on a slow link.
	MaxChunk = 16 << 10
	// MaxBulkFrame bounds one frame of a bulk stream.
	MaxBulkFrame = MaxControlFrame + bulkHead + 4
)
