package senses

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shirou/gopsutil/v4/sensors"
)

// Guards that what systems tell is read as they mean it: the owner's wishes rest on it.
func TestLinuxBattery(t *testing.T) {
	const ac, bat = "AC/online", "BAT0/status"
	supplies := func(of ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for i := 0; i+1 < len(of); i += 2 {
			m[of[i]] = &fstest.MapFile{Data: []byte(of[i+1] + "\n")}
		}
		return m
	}
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		on   bool
	}{
		{"a desktop", supplies(), false},
		{"unplugged", supplies("AC/type", "Mains", ac, "0", "BAT0/type", "Battery", bat, "Discharging"), true},
		{"plugged in", supplies("AC/type", "Mains", ac, "1", "BAT0/type", "Battery", bat, "Charging"), false},
		{"plugged in, and full", supplies("AC/type", "Mains", ac, "1", "BAT0/type", "Battery", bat, "Discharging"), false},
		{"by USB", supplies("ucsi/type", "USB", "ucsi/online", "1", "BAT0/type", "Battery", bat, "Discharging"), false},
		{"a mouse", supplies("hid/type", "Battery", "hid/scope", "Device", "hid/status", "Discharging"), false},
		{"the second battery", supplies("BAT0/type", "Battery", bat, "Not charging", "BAT1/type", "Battery",
			"BAT1/status", "Discharging"), true},
	} {
		if on := linuxBattery(c.fs); on != c.on {
			t.Errorf("%s: on battery %v, want %v", c.name, on, c.on)
		}
	}
}

// What macOS prints of its battery and of the last touch is read, and what is not there is not guessed.
func TestMacOS(t *testing.T) {
	if !macBattery("Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t83%; discharging; present: true\n") ||
		macBattery("Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t83%; 'Battery Power'\n") || macBattery("") {
		t.Error("what pmset prints is read wrongly")
	}
	since, ok := macUntouched("    | |   \"HIDServiceSupport\" = Yes\n    | |   \"HIDIdleTime\" = 5250443916\n    | | }\n")
	if !ok || since != 5250443916*time.Nanosecond {
		t.Errorf("untouched for %v, %v", since, ok)
	}
	for _, bad := range []string{"", `"HIDIdleTime" = `, `"HIDIdleTime" = -5`, `"HIDIdleTime" = many`} {
		if _, ok := macUntouched(bad); ok {
			t.Errorf("%q was read", bad)
		}
	}
}

// A session in use was touched a moment ago, an idle one when logind says, but never in time to come.
func TestLogind(t *testing.T) {
	now := time.Unix(1000, 0)
	if d := logindUntouched(false, 400e6, now); d != 0 {
		t.Errorf("a session in use is untouched for %v", d)
	}
	if d := logindUntouched(true, 400e6, now); d != 600*time.Second {
		t.Errorf("idle since 600 s is %v", d)
	}
	if d := logindUntouched(true, 1<<63, now); d < 0 {
		t.Errorf("a time to come is %v", d)
	}
}

// Each way in which NetworkManager and Windows say that bytes cost money is understood, and no other.
func TestMetered(t *testing.T) {
	for how, want := range []bool{false, true, false, true, false} { // unknown, yes, no, guessed yes, guessed no
		if networkMetered(uint32(how)) != want {
			t.Errorf("NetworkManager's %d is metered: %v, want %v", how, !want, want)
		}
	}
	for cost, want := range map[uint32]bool{0: false, 1: false, 2: true, 4: true, 0x10001: true, 0x20001: false,
		0x40001: true, 0x80001: false} {
		if costMetered(cost) != want {
			t.Errorf("Windows' %#x is metered: %v, want %v", cost, !want, want)
		}
	}
}

// The hottest sensor counts, and not one whose temperature no machine has; without a sensor nothing is too hot.
func TestTheHottestSensorThatIsOne(t *testing.T) {
	all := []sensors.TemperatureStat{{Temperature: 255}, {Temperature: -128}, {Temperature: 0},
		{Temperature: 71.9}, {Temperature: 45}}
	if c := hottestOf(all); c != 71 {
		t.Errorf("the hottest is %d, want 71", c)
	}
	if c := hottestOf(nil); c != 0 {
		t.Errorf("no sensor has %d degrees", c)
	}
}

// A program is found by its name, as its owner would write it, and not when it has ended.
func TestRunning(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sleep to copy")
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	name := "a-game-whose-name-is-long" // Linux itself tells the first 15 bytes
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, program, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Running([]string{name}); got != "" {
		t.Fatalf("%s runs before it was started", got)
	}
	game := exec.Command(file, "60")
	if err := game.Start(); err != nil {
		t.Fatal(err)
	}
	if got := Running([]string{"nothing-of-that-name", "A-Game-Whose-Name-Is-Long.exe"}); got == "" {
		t.Error("a program that runs is not seen")
	}
	_ = game.Process.Kill()
	_ = game.Wait()
	if got := Running([]string{name}); got != "" {
		t.Error("a program that has ended is seen")
	}
}
