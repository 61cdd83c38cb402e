// Command satinvet reports mistakes in the use of package satin; package internal/satinvet lists them.
//
//	go install github.com/satin-peer/satin/cmd/satinvet@latest
//	go vet -vettool=$(command -v satinvet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/satin-peer/satin/internal/satinvet"
)

func main() { singlechecker.Main(satinvet.Analyzer) }
