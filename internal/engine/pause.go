package engine

// pause spends some tens of nanoseconds between two looks at something that another worker is about to change.
//
//go:noinline
func pause() {
	for range 30 {
		spin()
	}
}

//go:noinline
func spin() {}
