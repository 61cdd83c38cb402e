//go:build unix

package swarm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
)

// guardScript starts a program that ends with whoever started it, however that one ends: a shell beside it
// reads a pipe which nobody writes to, and kills it when the pipe's other end has closed. (The system's own
// means, a signal at the parent's death, is Linux only, and lost on the way into the namespaces of a Lab that
// is not root's.) The program has the process ID of the shell that runs this. The one beside it is its child:
// when the program has ended it is not any more, and kills nobody who has got that ID since.
const guardScript = `sh -c 'read -r _ <&3
[ $(ps -o ppid= -p $$) = "$PPID" ] && kill -9 "$PPID"' >/dev/null 2>&1 </dev/null &
exec 3<&- "$@"`

// Output runs a command that ends with this process, and gives its standard output; what is on standard error is in the
// error. The guard's 2 ms of processor time count as the command's.
func Output(cmd *exec.Cmd) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	line := cmd.String()
	if err := run(cmd); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w: %s", line, err, errs.String())
	}
	return out.Bytes(), nil
}

func run(cmd *exec.Cmd) error {
	release, err := start(cmd)
	if err == nil {
		err = cmd.Wait()
		release()
	}
	return err
}

// start starts a command that ends with this process; release when it has ended.
func start(cmd *exec.Cmd) (release func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	line := append([]string{"sh", "-c", guardScript, "sh", cmd.Path}, cmd.Args[1:]...)
	if cmd.Path, err = exec.LookPath("sh"); err != nil {
		w.Close()
		return nil, err
	}
	cmd.Args, cmd.ExtraFiles = line, []*os.File{r}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return func() { w.Close() }, nil
}
