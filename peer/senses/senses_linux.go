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

// askLogind asks systemd's logind, which graphical sessions tell when they are idle, and which looks at the terminals
// of the others.
func askLogind() (time.Duration, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return 0, false
	}
	defer bus.Close()
	const manager = "org.freedesktop.login1.Manager"
	var idle bool
	var since uint64
	login := bus.Object("org.freedesktop.login1", "/org/freedesktop/login1")
	if login.StoreProperty(manager+".IdleHint", &idle) != nil ||
		login.StoreProperty(manager+".IdleSinceHint", &since) != nil {
		return 0, false
	}
	return logindUntouched(idle, since, time.Now()), true
}

func accessed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Atim.Unix())
	}
	return time.Time{}
}
