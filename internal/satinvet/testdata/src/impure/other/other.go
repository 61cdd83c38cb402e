// Package other has a variable.
package other

// Limit is anybody's.
var Limit int
