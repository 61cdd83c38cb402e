//go:build !wasip1

package guest

import "github.com/satin-peer/satin/apps"

// Serve makes this module run the application. Call it once, in an init function.
func Serve(apps.App) {}
