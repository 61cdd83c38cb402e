package dashboard

import (
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

// page is the page with all it needs. It holds nothing secret: everything comes by the API.
//
//go:embed web/index.html web/*.css web/*.js web/*.svg
var page embed.FS

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
	text, err := page.ReadFile("web/" + name)
	if err != nil {
		refuse(w, http.StatusNotFound, "not_found", "there is nothing here")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "refused", "this can only be read")
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	_, _ = w.Write(text)
}
