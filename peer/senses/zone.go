package senses

import (
	"os"
	"time"
)

// Zone is the time zone that the machine is in now. Go reads it once, and a traveller takes his daemon along. Where TZ
// names one, or the system has no such file, it is the one that Go has read.
func Zone() *time.Location {
	if _, named := os.LookupEnv("TZ"); named {
		return time.Local
	}
	return zoneOf("/etc/localtime")
}

func zoneOf(file string) *time.Location {
	b, err := os.ReadFile(file)
	if err != nil {
		return time.Local
	}
	zone, err := time.LoadLocationFromTZData("Local", b)
	if err != nil {
		return time.Local
	}
	return zone
}
