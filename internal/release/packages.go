package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// packages makes the .deb and the .rpm of a Linux target.
func (r *release) packages(t target, stage string, files []file) error {
	config := filepath.Join(stage, "nfpm.yaml") // JSON is YAML
	text, err := json.MarshalIndent(r.description(t, files), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(config, text, 0o644); err != nil {
		return err
	}
	at := fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at.Unix())
	for _, kind := range []string{"deb", "rpm"} {
		to := filepath.Join(r.out, fmt.Sprintf("satin-peer-%s-%v.%s", r.version, t, kind))
		if _, err := r.command(stage, []string{at}, r.nfpm, "package", "--config", config, "--packager", kind,
			"--target", to); err != nil {
			return err
		}
	}
	return nil
}

type (
	packaged struct {
		Name        string    `json:"name"`
		Arch        string    `json:"arch"`
		Platform    string    `json:"platform"`
		Version     string    `json:"version"`
		Section     string    `json:"section"`
		Priority    string    `json:"priority"`
		Maintainer  string    `json:"maintainer"`
		Description string    `json:"description"`
		Homepage    string    `json:"homepage"`
		License     string    `json:"license"`
		MTime       string    `json:"mtime"`
		Contents    []content `json:"contents"`
		RPM         rpm       `json:"rpm"`
	}
	content struct {
		Source string    `json:"src"`
		To     string    `json:"dst"`
		Info   *fileInfo `json:"file_info"`
	}
	fileInfo struct {
		Mode  int64  `json:"mode"`
		MTime string `json:"mtime"`
		Owner string `json:"owner"`
		Group string `json:"group"`
	}
	rpm struct {
		BuildHost string `json:"buildhost"`
	}
)

// description is what nfpm is to know.
func (r *release) description(t target, files []file) packaged {
	at := r.at.Format("2006-01-02T15:04:05Z07:00")
	p := packaged{
		Name: "satin-peer", Arch: t.arch, Platform: "linux", Version: r.version,
		Section: "science", Priority: "optional",
		Maintainer:  "The satin-peer authors <https://github.com/satin-peer/satin/issues>",
		Description: "Run recursive programs on a swarm of desktops as if it were one machine",
		Homepage:    "https://github.com/satin-peer/satin", License: "Apache-2.0", MTime: at, RPM: rpm{"reproducible"},
	}
	for _, f := range files {
		if to := installed(f.name); to != "" {
			p.Contents = append(p.Contents, content{f.path, to, &fileInfo{f.mode, at, "root", "root"}})
		}
	}
	return p
}

// installed is where a file of the archive belongs on Linux; "" if nowhere.
func installed(name string) string {
	dir, base := path.Split(name)
	switch {
	case name == "satin-peer":
		return "/usr/bin/satin-peer"
	case strings.HasSuffix(base, ".1"):
		return "/usr/share/man/man1/" + base
	case strings.HasSuffix(base, ".bash"):
		return "/usr/share/bash-completion/completions/satin-peer"
	case base == "_satin-peer":
		return "/usr/share/zsh/vendor-completions/_satin-peer"
	case strings.HasSuffix(base, ".fish"):
		return "/usr/share/fish/vendor_completions.d/satin-peer.fish"
	case dir == "systemd/":
		return "/usr/lib/systemd/user/" + base
	case name == "LICENSE":
		return "/usr/share/doc/satin-peer/copyright"
	case strings.HasSuffix(base, ".md"):
		return "/usr/share/doc/satin-peer/" + base
	}
	return ""
}
