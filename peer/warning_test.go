package peer

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A member that lets whoever warns it wait keeps that from nobody else.
func TestWarnedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard atomic.Int32
		began := time.Now()
		tellEach(context.Background(), []peer.ID{"a", "b", "c"}, func(peer.ID) bool {
			time.Sleep(exchangeTime)
			heard.Add(1)
			return true
		})
		if took := time.Since(began); heard.Load() != 3 || took != exchangeTime {
			t.Errorf("%d are told in %v", heard.Load(), took)
		}
	})
}
