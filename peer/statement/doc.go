// Package statement holds what peers sign and pass on: the manifest of a run, the tombstone that ends it, and
// the card with which a peer introduces itself.
//
// A statement is a deterministic CBOR encoding in an envelope with its author's peer ID and an Ed25519
// signature over kind and encoding, so that one kind can never be taken for another; other encodings of the
// same, which anybody could make, are refused. Whoever holds the bytes can check them, wherever they came from:
// they may be fetched from any member. Open functions accept hostile bytes; what they return is bounded and
// checked as far as a statement alone can be. Their errors wrap ErrStatement.
package statement
