package ask

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain makes this test binary a program that answers, when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("ASK_SERVES") == "" {
		os.Exit(m.Run())
	}
	err := Serve(map[string]func([]string) (Answer, error){
		"echo":  func(words []string) (Answer, error) { return Answer{"words": strings.Join(words, "|")}, nil },
		"fail":  func([]string) (Answer, error) { return nil, fmt.Errorf("two\nlines") },
		"hang":  func([]string) (Answer, error) { select {} },
		"third": func([]string) (Answer, error) { return Answer{"x": "0.25", "y": "many"}, nil },
	})
	if err != nil {
		os.Exit(1)
	}
}

func start(t *testing.T) *Program {
	p, err := Start("answerer", []string{os.Args[0]}, "ASK_SERVES=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// A question comes to the subject, and its answer back, as they were.
func TestAsk(t *testing.T) {
	p := start(t)
	a, err := p.Ask(time.Minute, "echo", "--random 70", 3)
	if err != nil || a["words"] != "--random 70|3" {
		t.Errorf("got %v, %v", a, err)
	}
	if _, err := p.Ask(time.Minute, "fail"); err == nil || err.Error() != "answerer: two lines" {
		t.Errorf("an error comes as %v", err)
	}
	if _, err := p.Ask(time.Minute, "sing"); err == nil || !strings.Contains(err.Error(), `no "sing" here, only echo`) {
		t.Errorf("an unknown question gives %v", err)
	}
	a, err = p.Ask(time.Minute, "third") // it goes on after mistakes
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.Float("x"); v != 0.25 || err != nil {
		t.Errorf("x is %v, %v", v, err)
	}
	for _, key := range []string{"y", "z"} {
		if _, err := a.Float(key); err == nil {
			t.Errorf("%s is a number", key)
		}
	}
}

// A program that does not answer in time is ended, and answers nothing afterwards.
func TestSilentProgramIsKilled(t *testing.T) {
	p := start(t)
	if _, err := p.Ask(time.Millisecond, "hang"); !errors.Is(err, ErrSilent) {
		t.Errorf("got %v", err)
	}
	if _, err := p.Ask(time.Minute, "echo"); err == nil {
		t.Error("it answers after its death")
	}
}
