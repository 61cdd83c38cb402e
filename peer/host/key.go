package host

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

const pemType = "PRIVATE KEY"

// readOrMakeKey reads a private key from a file, or makes one and writes it if there is no such file.
func readOrMakeKey(path string) (ed25519.PrivateKey, error) {
	b, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	if b != nil {
		key, err := parseKey(b)
		if err != nil {
			return nil, stateError(path,
				"holds no usable key; put back a copy, or remove it for a new key and with it a new identity", err)
		}
		return key, nil
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return key, writeKey(path, key)
}

func writeKey(path string, key ed25519.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writeDurably(path, pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}))
}

// parseKey reads an Ed25519 key as openssl writes it: PKCS #8 in PEM.
func parseKey(b []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("not a %s block in PEM", pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a %T, not an Ed25519 key", parsed)
	}
	return key, nil
}
