package senses

import (
	"context"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
)

func onBattery() bool { return linuxBattery(os.DirFS("/sys/class/power_supply")) }

func untouched() (time.Duration, bool) {
	if since, ok := askLogind(); ok {
		return since, true
	}
	return terminalsUntouched(terminals, time.Now())
}

// metered asks NetworkManager; where there is none nothing is known.
func metered() bool {
	var how uint32
	return ask("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
		"org.freedesktop.NetworkManager", map[string]any{"Metered": &how}) && networkMetered(how)
}

// askLogind asks systemd's logind, which graphical sessions tell when they are idle, and which looks at the terminals
// of the others.
func askLogind() (time.Duration, bool) {
	var idle bool
	var since uint64
	ok := ask("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
		map[string]any{"IdleHint": &idle, "IdleSinceHint": &since})
	return logindUntouched(idle, since, time.Now()), ok
}

// ask asks a program on the system's bus for some of its properties, and says whether it gave all. One that does not
// run is not started.
func ask(program string, path dbus.ObjectPath, kind string, properties map[string]any) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return false
	}
	defer bus.Close()
	for name, value := range properties {
		var v dbus.Variant
		if bus.Object(program, path).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get",
			dbus.FlagNoAutoStart, kind, name).Store(&v) != nil || v.Store(value) != nil {
			return false
		}
	}
	return true
}

func accessed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Atim.Unix())
	}
	return time.Time{}
}
