package child_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/wire"
)

func ask(t *testing.T, bin []byte) (*child.Asked, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return child.Ask(child.Config{Command: []string{exe, "compute"},
		Module: &child.Module{Hash: module.HashOf(bin), Bytes: bin}})
}

// A module in a process of its own describes itself, reads arguments and files, renders and checks as it does here;
// what is wrong with it is an error of its own.
func TestAsk(t *testing.T) {
	bin := readFile(t, "examples/clique-c/clique.wasm")
	a, err := ask(t, bin)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.Name != "clique" || a.Hash != module.HashOf(bin) || len(a.Examples) == 0 {
		t.Errorf("%+v", a.Description)
	}
	m := loaded(t, bin)
	files := []module.File{{Name: "triangle", Bytes: []byte("p edge 3 3\ne 1 2\ne 2 3\ne 1 3\n")}}
	there, err := a.Setup([]string{"triangle"}, nil, files)
	if err != nil {
		t.Fatal(err)
	}
	here, err := m.Setup([]string{"triangle"}, nil, files)
	if err != nil {
		t.Fatal(err)
	}
	x, err := wire.Value().Encode(there)
	if err != nil {
		t.Fatal(err)
	}
	if y, err := wire.Value().Encode(here); err != nil || string(x) != string(y) {
		t.Errorf("%+v, and here %+v", there, here)
	}
	result := make([]byte, 40) // size, and a set
	result[0], result[8] = 3, 7
	text, fields, err := a.Render(there.Call, result)
	if text != "clique of 3: 1 2 3" || fmt.Sprintf("%s", fields["size"]) != "3" || err != nil {
		t.Errorf("%q, %v, %v", text, fields, err)
	}
	if err := a.Check(there.Call, result); err != nil {
		t.Error(err)
	}
	result[8] = 11
	if err := a.Check(there.Call, result); err == nil || !strings.Contains(err.Error(), "no such vertex") {
		t.Errorf("a wrong answer: %v", err)
	}
	var refused *module.InputError
	if _, err := a.Setup([]string{"nothing"}, nil, nil); !errors.As(err, &refused) || refused.What != "GRAPH" {
		t.Errorf("a graph that there is not: %v", err)
	}
}

// Whatever holds an answer up, whoever waits for it hears of it in one line.
func TestAskLate(t *testing.T) {
	a, err := ask(t, readFile(t, "guest/conform/hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Impatient()
	var bad *module.Error
	if _, err := a.Setup([]string{"setup_loop", "1"}, nil, nil); !errors.As(err, &bad) ||
		!strings.HasSuffix(err.Error(), "it takes too long to answer") {
		t.Error(err)
	}
}

// A module that harms who asks it ends in one line, and the next question in another.
func TestAskHostile(t *testing.T) {
	var bad *module.Error
	if _, err := ask(t, []byte("\x00asm\x01\x00\x00\x00")); !errors.As(err, &bad) {
		t.Errorf("an empty module: %v", err)
	}
	a, err := ask(t, readFile(t, "guest/conform/hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for what, why := range map[string]string{"setup_far": "outside its memory", "setup_spawns": "spawns while it is asked",
		"setup_hoards": "too large"} {
		_, err := a.Setup([]string{what, "1"}, nil, nil)
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	a.Close()
	if _, err := a.Setup([]string{"traps", "1"}, nil, nil); err == nil {
		t.Error("a process that has ended answers")
	}
}
