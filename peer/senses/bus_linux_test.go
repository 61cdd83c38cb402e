package senses

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// A system's bus, and on it what tells of the network and of logins.
func onBus(t *testing.T) *dbus.Conn {
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("there is no dbus-daemon")
	}
	cmd := exec.Command(daemon, "--session", "--nofork", "--print-address") // where anybody may do anything
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", strings.TrimSpace(address))
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bus.Close() })
	return bus
}

// properties answer org.freedesktop.DBus.Properties.Get, from goroutines of the bus.
type properties struct {
	mu  sync.Mutex
	all map[string]any
}

func (p *properties) Get(_, name string) (dbus.Variant, *dbus.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.all[name]
	if !ok {
		return dbus.Variant{}, dbus.MakeFailedError(os.ErrNotExist)
	}
	return dbus.MakeVariant(v), nil
}

func (p *properties) change(f func(all map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.all)
}

// Guards the questions themselves: names of programs, paths and properties, as a real bus carries them.
func TestOnTheBus(t *testing.T) {
	bus := onBus(t)
	if metered() {
		t.Error("a bus without NetworkManager has a metered network")
	}
	if _, ok := askLogind(); ok {
		t.Error("a bus without logind says when somebody was there")
	}
	network := &properties{all: map[string]any{"Metered": uint32(4)}}
	login := &properties{all: map[string]any{"IdleHint": true,
		"IdleSinceHint": uint64(time.Now().Add(-time.Hour).UnixMicro())}}
	for _, o := range []struct {
		name, path string
		with       *properties
	}{
		{"org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", network},
		{"org.freedesktop.login1", "/org/freedesktop/login1", login},
	} {
		if err := bus.Export(o.with, dbus.ObjectPath(o.path), "org.freedesktop.DBus.Properties"); err != nil {
			t.Fatal(err)
		}
		r, err := bus.RequestName(o.name, dbus.NameFlagDoNotQueue)
		if err != nil || r != dbus.RequestNameReplyPrimaryOwner {
			t.Fatal(r, err)
		}
	}
	if metered() {
		t.Error("a network that is guessed not to be metered is")
	}
	network.change(func(all map[string]any) { all["Metered"] = uint32(1) })
	if !metered() {
		t.Error("a metered network is not seen")
	}
	if since, ok := askLogind(); !ok || since < time.Hour || since > 2*time.Hour {
		t.Errorf("idle for an hour is %v, %v", since, ok)
	}
	network.change(func(all map[string]any) { delete(all, "Metered") })
	if metered() {
		t.Error("a network of which nothing is said is metered")
	}
}
