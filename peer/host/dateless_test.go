package host_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/p2p/security/noise"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/quic-go/quic-go"

	"github.com/satin-peer/satin/peer/host"
)

// No clock, neither of who is reached nor of who reaches it, has a handshake fail: the certificate of QUIC's is good at
// all times, and over TCP there is none.
func TestHandshakesHaveNoDates(t *testing.T) {
	a, b := open(t, host.Config{}), open(t, host.Config{Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	join(t, b, invite(t, a, host.InviteOptions{MayInvite: true}))
	c := open(t, host.Config{Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	join(t, c, invite(t, b, host.InviteOptions{}))
	for _, conn := range c.Network().Network().ConnsToPeer(b.ID()) {
		if s := conn.ConnState().Security; s != noise.ID {
			t.Errorf("over TCP they have %q", s)
		}
	}
	port := ""
	for _, addr := range a.Network().Addrs() {
		if _, err := addr.ValueForProtocol(ma.P_QUIC_V1); err == nil {
			port, _ = addr.ValueForProtocol(ma.P_UDP)
		}
	}
	seen := 0
	_, err := quic.DialAddr(patience(t), "127.0.0.1:"+port, &tls.Config{InsecureSkipVerify: true,
		NextProtos: []string{"libp2p"},
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			for _, b := range raw {
				cert, err := x509.ParseCertificate(b)
				if err != nil {
					return err
				}
				seen++
				if cert.NotBefore.After(time.Unix(0, 0)) || cert.NotAfter.Before(time.Now().AddDate(1000, 0, 0)) {
					t.Errorf("it is good from %s to %s", cert.NotBefore, cert.NotAfter)
				}
			}
			return nil
		}}, nil)
	if seen != 1 {
		t.Errorf("%d certificates were seen: %v", seen, err)
	}
}
