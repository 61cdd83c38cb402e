package engine

import "errors"

// ErrNoPrograms is what Execute says where no other programs are run.
var ErrNoPrograms = errors.New("no executables are run here: the jobs of an application may have those run that it " +
	"declares, and that the owner of the machine has allowed; not those of modules and of sequential programs")

// Execute has another program run (Config.Exec), and waits for it. The worker keeps its core: the program needs one.
func (w *Worker) Execute(name string, input []byte, args []string) ([]byte, error) {
	if w.pool == nil || w.pool.cfg.Exec == nil {
		return nil, ErrNoPrograms
	}
	return w.pool.cfg.Exec(name, input, args, w.Aborted)
}
