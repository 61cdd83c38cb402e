//go:build race

package peer_test

// underRaceDetector says that these tests are run by make race.
const underRaceDetector = true
