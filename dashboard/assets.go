package dashboard

import (
	"io/fs"
	"net/http"
	"path"

	"github.com/satin-peer/satin/dashboard/web"
)

// serveAsset serves a file of the page by its exact name.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[1:]
	if name == "" {
		name = "index.html"
	}
	if !fs.ValidPath(name) || name != path.Base(name) {
		refuse(w, http.StatusNotFound, "not_found", "there is nothing here")
		return
	}
	text, err := web.Files.ReadFile(name)
	if err != nil {
		refuse(w, http.StatusNotFound, "not_found", "there is nothing here")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "refused", "this can only be read")
		return
	}
	w.Header().Set("Content-Type", contentType(path.Ext(name)))
	_, _ = w.Write(text)
}

// contentType is that of the page's files. The system's own table may say anything.
func contentType(ext string) string {
	switch ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
