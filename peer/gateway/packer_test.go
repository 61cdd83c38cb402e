package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// A full is a reply that nobody reads.
type full struct {
	*httptest.ResponseRecorder
	read chan struct{}
}

func (f full) Write(b []byte) (int, error) {
	<-f.read
	return len(b), nil
}

// Those who ask for a module and read nothing of it keep it from nobody.
func TestModulesThatNobodyReads(t *testing.T) {
	s, _ := keep(t, Config{})
	ask := func(w http.ResponseWriter) {
		q := httptest.NewRequest(http.MethodPost, string(s.base)+"/module", strings.NewReader(
			fmt.Sprintf(`{"ticket": %q, "module": "01%062d"}`, encodeTicket([]byte("ticket")), 0)))
		q.Header.Set("Origin", string(s.base))
		q.Header.Set("Accept-Encoding", "gzip")
		s.module(w, q)
	}
	synctest.Test(t, func(*testing.T) {
		s.packer.turn = make(chan struct{}, 1) // of this bubble
		read := make(chan struct{})
		for range 5 {
			go ask(full{httptest.NewRecorder(), read})
		}
		synctest.Wait()
		w := httptest.NewRecorder()
		ask(w)
		close(read)
		if w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
	})
}

// Modules are compressed once as long as few are asked for, and whoever has gone waits for no turn.
func TestPacker(t *testing.T) {
	p := &packer{turn: make(chan struct{}, 1)}
	pack := func(n byte, content string) string {
		b, err := p.pack(t.Context(), [32]byte{n}, []byte(content))
		z, zerr := gzip.NewReader(bytes.NewReader(b))
		if err = errors.Join(err, zerr); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for n := range byte(maxPacked) {
		pack(n, "first")
	}
	pack(0, "again") // 1 is the oldest now
	pack(maxPacked, "first")
	for n, want := range map[byte]string{0: "first", 2: "first", maxPacked: "first"} {
		if got := pack(n, "again"); got != want {
			t.Errorf("module %d was packed %s", n, got)
		}
	}
	if got := pack(1, "again"); got != "again" || len(p.kept) != maxPacked {
		t.Errorf("%d are kept; the oldest was packed %s", len(p.kept), got)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	p.turn <- struct{}{}
	if _, err := p.pack(gone, [32]byte{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
