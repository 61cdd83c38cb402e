// Package all lists the applications that are built into the command.
package all

import "github.com/satin-peer/satin/apps"

// Apps returns every built-in application, sorted by name.
func Apps() []apps.App {
	return []apps.App{}
}
