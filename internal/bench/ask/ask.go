// Package ask is how the bench talks to the programs that it measures: they are started once, and then asked
// in turn, so that all contenders of a comparison run within the same second, again and again, warmed up.
//
// A question is one line of words, an answer is one line of key=value pairs; words and pairs are separated by
// tabs, so that a contender in another language needs no library to take part. The first word names what to
// do. An answer that begins with the word error says why there is none.
package ask

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Answer holds what a program measured, by name. Times are in ns.
type Answer map[string]string

// Float gives the named value as a number.
func (a Answer) Float(key string) (float64, error) {
	text, ok := a[key]
	if !ok {
		return 0, fmt.Errorf("the answer lacks %q", key)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("the answer's %s is %q, not a number", key, text)
	}
	return v, nil
}

// Of makes an answer of names and values in turn.
func Of(pairs ...any) Answer {
	a := make(Answer, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		a[pair[0].(string)] = fmt.Sprint(pair[1])
	}
	return a
}

// Quantiles tells how long so many of the same took, at least one.
func Quantiles(times []time.Duration) Answer {
	slices.Sort(times)
	at := func(q float64) int64 { return times[int(q*float64(len(times)-1))].Nanoseconds() }
	return Of("count", len(times), "p50", at(0.5), "p99", at(0.99), "max", at(1))
}

// Serve answers the questions on standard input until it ends. A handler gets the words after the first one.
func Serve(handlers map[string]func(words []string) (Answer, error)) error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Split(in.Text(), "\t")
		handler, ok := handlers[words[0]]
		if !ok {
			known := slices.Sorted(maps.Keys(handlers))
			fmt.Printf("error\tno %q here, only %s\n", words[0], strings.Join(known, ", "))
			continue
		}
		answer, err := handler(words[1:])
		if err != nil {
			fmt.Printf("error\t%s\n", strings.Join(strings.Fields(err.Error()), " "))
			continue
		}
		line := "ok"
		for _, key := range slices.Sorted(maps.Keys(answer)) {
			line += "\t" + key + "=" + answer[key]
		}
		fmt.Println(line)
	}
	return in.Err()
}

// ErrSilent says that a program gave no answer in time; it has been killed.
var ErrSilent = errors.New("no answer")

// A Program is a running program that answers questions.
type Program struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
}

// Start starts the program that the command line names, with more environment variables if env is given.
func Start(name string, args []string, env ...string) (*Program, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &Program{name, cmd, in, bufio.NewScanner(out)}, nil
}

// Pid gives the process's number.
func (p *Program) Pid() int { return p.cmd.Process.Pid }

// Ask puts one question and waits for the answer, for as long as patience. A program that is silent for
// longer is killed.
func (p *Program) Ask(patience time.Duration, words ...any) (Answer, error) {
	question := make([]string, len(words))
	for i, word := range words {
		question[i] = fmt.Sprint(word)
	}
	if _, err := fmt.Fprintln(p.in, strings.Join(question, "\t")); err != nil {
		return nil, fmt.Errorf("%s does not listen: %w", p.name, err)
	}
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	heard := p.out.Scan()
	if !late.Stop() {
		return nil, fmt.Errorf("%s: %w within %v", p.name, ErrSilent, patience)
	}
	if !heard {
		return nil, fmt.Errorf("%s ended without an answer", p.name)
	}
	fields := strings.Split(p.out.Text(), "\t")
	if fields[0] != "ok" {
		return nil, fmt.Errorf("%s: %s", p.name, strings.Join(fields[1:], " "))
	}
	answer := Answer{}
	for _, field := range fields[1:] {
		key, value, _ := strings.Cut(field, "=")
		answer[key] = value
	}
	return answer, nil
}

// Close ends the program and waits for it.
func (p *Program) Close() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}
