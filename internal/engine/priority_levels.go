package engine

// Levels of SetThreadPriority.
const (
	windowsBelowNormal = -1
	windowsLowest      = -2
	windowsIdle        = -15
)

// windowsLevel is the level that comes nearest to a nice value.
func windowsLevel(nice int) int {
	switch {
	case nice >= maxNice:
		return windowsIdle
	case nice >= maxNice/2:
		return windowsLowest
	}
	return windowsBelowNormal
}
