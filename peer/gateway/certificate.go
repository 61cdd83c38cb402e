package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A certifier gives the certificate of a gateway for a connection.
type certifier func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// certificateFor is that of a gateway; nil: it is served in plain.
func certificateFor(cfg *Config, at netip.Addr) (certifier, error) {
	switch {
	case cfg.CertFile != "" || cfg.KeyFile != "":
		c, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("%w: the certificate %q with the key %q: %w", ErrConfig, cfg.CertFile,
				cfg.KeyFile, err)
		}
		return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c, nil }, nil
	case at.IsLoopback():
		return nil, nil
	}
	m := &made{at: at, now: time.Now}
	_, err := m.certificate(nil)
	return m.certificate, err
}

// made is a certificate that was made here. It is made again when the date is none of its: the clock may have been
// wrong at the start, or that is more than a year ago.
type made struct {
	at  netip.Addr
	now func() time.Time

	mu   sync.Mutex
	last *tls.Certificate
}

func (m *made) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if c := m.last; c != nil && now.After(c.Leaf.NotBefore) && now.Before(c.Leaf.NotAfter) {
		return c, nil
	}
	c, err := ownCertificate(m.at, now)
	if err == nil {
		m.last = c
	}
	return c, err
}

// ownLife is how long a certificate is good that was made here: browsers take none that is good for longer.
const ownLife = 397 * 24 * time.Hour

// ownCertificate makes one that nobody has signed.
func ownCertificate(at netip.Addr, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "satin-peer"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(ownLife), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{at.AsSlice()}}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
