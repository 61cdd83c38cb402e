module github.com/satin-peer/satin/internal/bench

go 1.26.0

replace github.com/satin-peer/satin => ../..

require (
	github.com/alitto/pond/v2 v2.7.1
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/satin-peer/satin v0.0.0-00010101000000-000000000000
	github.com/sourcegraph/conc v0.3.0
	golang.org/x/sync v0.24.0
)

require golang.org/x/sys v0.49.0
