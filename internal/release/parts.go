package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"time"
)

// A parts list says what a program is made of, in CycloneDX 1.5.
type partsList struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Version  int    `json:"version"`
	Metadata struct {
		Timestamp string `json:"timestamp"`
		Component part   `json:"component"`
	} `json:"metadata"`
	Components []part `json:"components"`
}

type part struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// writeParts writes the list of a program, which Go keeps in it.
func writeParts(to, program, version string, at time.Time) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	module := func(path, version string) part {
		return part{"library", path, version, "pkg:golang/" + path + "@" + version}
	}
	l := partsList{Format: "CycloneDX", Spec: "1.5", Version: 1}
	l.Metadata.Timestamp = at.Format(time.RFC3339)
	l.Metadata.Component = part{"application", "satin-peer", version, "pkg:golang/" + info.Main.Path + "@" + version}
	l.Components = []part{module("std", info.GoVersion)}
	for _, d := range info.Deps { // in order
		if d.Replace != nil {
			d = d.Replace
		}
		l.Components = append(l.Components, module(d.Path, d.Version))
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(text, '\n'), 0o644)
}
