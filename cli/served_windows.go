package cli

import (
	"os"

	"golang.org/x/sys/windows/svc"
)

// underManager is Windows' manager of services, if it has started this process; else nil.
func underManager() managed {
	if is, err := svc.IsWindowsService(); err != nil || !is {
		return nil
	}
	return func(live func(stop <-chan os.Signal) error) error {
		w := &windowsService{live: live}
		if err := svc.Run(serviceName, w); err != nil {
			return failed("Windows' manager of services: %w", err)
		}
		return w.err
	}
}

// A windowsService answers the manager.
type windowsService struct {
	live func(stop <-chan os.Signal) error
	err  error
}

// Execute implements svc.Handler.
func (w *windowsService) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (
	specific bool, code uint32) {
	asked := make(chan struct{}, 1)
	go func() {
		for r := range requests {
			switch r.Cmd {
			case svc.Interrogate:
				status <- r.CurrentStatus
			case svc.Stop, svc.Shutdown:
				select {
				case asked <- struct{}{}:
				default: // it was
				}
			}
		}
	}()
	w.err = answering(w.live, asked, func(s serviceState) {
		status <- map[serviceState]svc.Status{
			serviceRuns:  {State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown},
			serviceStops: {State: svc.StopPending},
		}[s]
	})
	if w.err != nil {
		return false, exitFailed
	}
	return false, 0
}
