package senses

import (
	"io/fs"
	"strings"
)

// linuxBattery reads what Linux tells of its power supplies, in /sys/class/power_supply: the machine runs on a battery
// if one of its own discharges and no mains are online. Batteries of mice and headsets have the scope "Device".
func linuxBattery(supplies fs.FS) bool {
	list, err := fs.ReadDir(supplies, ".")
	if err != nil {
		return false
	}
	discharging := false
	for _, s := range list {
		read := func(file string) string {
			b, _ := fs.ReadFile(supplies, s.Name()+"/"+file) // what is not there says nothing
			return strings.TrimSpace(string(b))
		}
		switch read("type") {
		case "Mains", "USB":
			if read("online") == "1" {
				return false
			}
		case "Battery":
			if read("scope") != "Device" && read("status") == "Discharging" {
				discharging = true
			}
		}
	}
	return discharging
}

// macBattery reads what "pmset -g batt" prints first.
func macBattery(printed string) bool {
	first, _, _ := strings.Cut(printed, "\n")
	return strings.Contains(first, "'Battery Power'")
}
