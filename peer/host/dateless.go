package host

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"time"
)

// dateless is what the certificate of QUIC's handshake is made from. It proves this peer's key to whoever connects, and
// a date adds nothing to that; but libp2p begins it an hour before this process, and the other side goes by its own
// clock. So a peer that was started while its clock was ahead could be reached by nobody for as long as it ran, and one
// whose clock was behind could reach nobody that had begun since. For the same reason Noise proves the key over TCP:
// its handshake has no dates.
func dateless() (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{SerialNumber: serial.String()},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}, nil
}
