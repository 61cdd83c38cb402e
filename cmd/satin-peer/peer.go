package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/settings"
)

// openPeer makes a real peer of the settings.
func openPeer(ctx context.Context, l *settings.Loaded, list []apps.App, log *slog.Logger) (member, error) {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	built, err := peer.Built(names...)
	if err != nil {
		return nil, failed("%w", err)
	}
	p, err := peer.Open(ctx, peerConfig(l, log), built)
	if errors.Is(err, host.ErrAddress) || errors.Is(err, host.ErrInvitation) {
		return nil, err
	}
	if err != nil {
		return nil, failed("%w", err)
	}
	return p, nil
}

func peerConfig(l *settings.Loaded, log *slog.Logger) peer.Config {
	trust := host.TrustInvite
	if l.Trust == settings.TrustOpen {
		trust = host.TrustOpen
	}
	return peer.Config{
		Host: host.Config{
			StateDir: l.StateDir, Listen: l.Listen, Swarm: l.Swarm, Trust: trust, Bootstrap: l.Join,
			MDNS: l.MDNS, DHT: l.DHT, NAT: l.NAT, Relay: l.Relay, MaxConns: l.MaxConnections,
			Agent: "satin-peer " + software(), Logger: log,
		},
		Workers: l.Workers, FullPriority: l.Priority == settings.PriorityNormal, Cluster: l.Cluster, Policy: l.Policy,
		Software: software(), Log: log,
	}
}

// software is the program's version, for people.
func software() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return version(info)
}
