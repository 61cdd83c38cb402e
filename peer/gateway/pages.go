package gateway

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	drawing "github.com/satin-peer/satin/dashboard/web"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/statement"
)

//go:embed web/index.html web/*.js web/style.css
var web embed.FS

// built has what make build makes of the tab's program, and nothing else in a program that was built without it.
//
//go:embed dist
var built embed.FS

// Dist is what this program was built with.
func Dist() fs.FS {
	sub, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // a constant name
	}
	return sub
}

// The files of Config.Dist.
const (
	WasmFile = "tab.wasm.gz"
	ExecFile = "wasm_exec.js"
	AppsFile = "apps.json" // the applications in it: their versions by name
)

// Apps are the applications that the tab's program has: their versions, in hexadecimal, by name.
func Apps(dist fs.FS) (map[string]string, error) {
	b, err := fs.ReadFile(dist, AppsFile)
	if err != nil {
		return nil, fmt.Errorf("%w: this program was built without the one for browsers: build it with make build, "+
			"or take one of a release", ErrConfig)
	}
	apps := map[string]string{}
	return apps, json.Unmarshal(b, &apps)
}

// drawn are the scripts of the dashboard that draw the segments of a page, and all that those load.
var drawn = [...]string{"colours.js", "forest.js", "format.js", "icicle.js", "layout.js"}

// workerFile is the script of the page's workers, which have a policy of their own.
const workerFile = "/worker.js"

// A file is one that is served.
type file struct {
	kind, tag, encoding string
	content             []byte
}

// policyHeader has the page load nothing from elsewhere, and speak to gateways only: see policy.
const (
	policyHeader = "Content-Security-Policy"
	basePolicy   = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; " +
		"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types satin-worker; connect-src 'self'"
)

// policy lets a page, or a worker of it, speak to this gateway and to others: websockets are named apart.
func policy(others []statement.Origin) string {
	var b strings.Builder
	b.WriteString(basePolicy)
	for _, o := range others {
		fmt.Fprintf(&b, " %s ws%s", o, strings.TrimPrefix(string(o), "http"))
	}
	return b.String()
}

// headers are on every reply.
var headers = [...][2]string{
	{policyHeader, basePolicy},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Embedder-Policy", "require-corp"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
	{"Cache-Control", "no-cache"}, // it may be kept, and is asked after: see the tags
}

// readFiles are all that is served.
func readFiles(dist fs.FS) (map[string]*file, error) {
	if _, err := Apps(dist); err != nil {
		return nil, err
	}
	files := map[string]*file{}
	add := func(from fs.FS, name, path, kind, encoding string) error {
		b, err := fs.ReadFile(from, name)
		if err == nil {
			files[path] = &file{kind, fmt.Sprintf(`"%x"`, sha256.Sum256(b)), encoding, b}
		}
		return err
	}
	names, err := fs.Glob(web, "web/*.js")
	for _, name := range names {
		err = errors.Join(err, add(web, name, strings.TrimPrefix(name, "web"), "text/javascript; charset=utf-8", ""))
	}
	for _, name := range drawn {
		err = errors.Join(err, add(drawing.Files, name, "/dashboard/web/"+name, "text/javascript; charset=utf-8", ""))
	}
	err = errors.Join(err, add(web, "web/index.html", "/", "text/html; charset=utf-8", ""),
		add(web, "web/style.css", "/style.css", "text/css; charset=utf-8", ""),
		add(dist, ExecFile, "/"+ExecFile, "text/javascript; charset=utf-8", ""),
		add(dist, WasmFile, "/tab.wasm", "application/wasm", "gzip"))
	return files, err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /peer", s.talk)
	mux.HandleFunc("POST /about", s.about)
	mux.HandleFunc("POST /module", s.module)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		f := s.files[r.URL.Path]
		if f == nil {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/" || r.URL.Path == workerFile {
			w.Header().Set(policyHeader, policy(s.others()))
		}
		w.Header().Set("Etag", f.tag)
		w.Header().Set("Content-Type", f.kind)
		if r.Header.Get("If-None-Match") == f.tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if f.encoding != "" {
			w.Header().Set("Content-Encoding", f.encoding)
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(f.content)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(f.content)
		}
	})
	return mux
}

// foreign answers who comes from a page that has no business here.
func foreign(w http.ResponseWriter) {
	http.Error(w, "this is for pages of gateways, with a ticket", http.StatusForbidden)
}

// maxAbout bounds the request of what a link is for, in bytes.
const maxAbout = 2 * statement.MaxTicket

// about says what a ticket is for.
func (s *Server) about(w http.ResponseWriter, r *http.Request) {
	var a struct {
		About
		Others []statement.Origin `json:"others,omitempty"` // gateways where the page may go on
		Error  string             `json:"error,omitempty"`
	}
	if !s.sameOrigin(r) {
		foreign(w)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAbout))
	if err == nil {
		var ticket []byte
		if ticket, err = decodeTicket(string(text)); err != nil || len(ticket) == 0 {
			err = errors.New("it is damaged: it has to be copied whole")
		} else {
			a.About, err = s.house.About(ticket)
			a.Others = s.others()
		}
	}
	if err != nil {
		a.Error = err.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(&a)
}

// module gives a module to whoever has a ticket for work of it.
func (s *Server) module(w http.ResponseWriter, r *http.Request) {
	var ask struct{ Ticket, Module string }
	bad := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAbout)).Decode(&ask)
	ticket, err := decodeTicket(ask.Ticket)
	hash, ok := wire.ParseHash(ask.Module)
	if !s.permitted(r, ticket) {
		foreign(w)
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	w.Header().Set("Vary", "Origin")
	if bad = errors.Join(bad, err); bad != nil || !ok {
		http.Error(w, "want a ticket, and a module's hash", http.StatusBadRequest)
		return
	}
	bin, err := s.house.Module(ticket, hash)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/wasm")
	w.Header().Set("Cache-Control", "no-store")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(bin)
		return
	}
	b, err := s.packer.pack(r.Context(), hash, bin)
	if err != nil {
		return // nobody waits for it any more
	}
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(b)
}

// guard lets through what was addressed to this server by its own names.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range headers {
			w.Header().Set(h[0], h[1])
		}
		if !slices.Contains(s.hosts(), r.Host) {
			http.Error(w, "there is nothing under this name", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func encodeTicket(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decodeTicket(text string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(text) }
