// Package web has the files of the dashboard's page: what browsers load as it is, and nothing secret. Package
// dashboard serves all of them. The page of visitors, which is another one (package gateway), takes from here what
// draws a tree of segments, so that there is one drawing of it.
package web

import "embed"

// Files are those of the page, by name.
//
//go:embed index.html *.css *.js *.svg *.txt
var Files embed.FS
