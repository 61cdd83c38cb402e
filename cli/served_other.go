//go:build !windows

package cli

// underManager is nil: managers of services here ask by signals, and want no answers.
func underManager() managed { return nil }
