package module

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzImports calls what a module may import with whatever numbers and memory: each call returns, or ends the module
// with an error of its own in one line, and never the host.
func FuzzImports(f *testing.F) {
	m := load(f, Config{}, "guest/conform/conform.wasm")
	functions := withTick()
	names := slices.Sorted(maps.Keys(functions))
	for i := range names {
		b := []byte{byte(i)}
		for _, n := range []uint64{0, 1024, 4, 1 << 31, 1<<32 - 1, 64, 8} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		f.Add(b, []byte("memory"))
		f.Add(append(b, b...), []byte{})
	}
	f.Fuzz(func(t *testing.T, calls, memory []byte) {
		in, err := m.get()
		if err != nil {
			t.Fatal(err)
		}
		defer in.close()
		in.wasm.write(1024, memory[:min(len(memory), 4096)])
		p := &pool{m: m}
		p.wake.L = &p.mu
		in.engine, in.shared = &worker{p: p, job: &offered{state: begun}}, newFiles(m, []File{{"input", memory}})
		const call = 1 + 7*8
		for n := 0; len(calls) >= call && n < 16; n++ {
			name := names[int(calls[0])%len(names)]
			var stack [7]uint64
			for i := range stack {
				stack[i] = binary.LittleEndian.Uint64(calls[1+8*i:])
			}
			calls = calls[call:]
			if name == "join" || name == "any" {
				continue // a child that nobody runs is waited for
			}
			if !callImport(t, in, name, functions[name], stack[:]) {
				return
			}
		}
	})
}

// callImport calls one, and says whether the module goes on.
func callImport(t *testing.T, in *instance, name string, f hostFunc, stack []uint64) (goesOn bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case error:
			var own *Error
			if v != errUnwound && !errors.As(v, &own) || strings.ContainsAny(v.Error(), "\n\r") {
				t.Errorf("%s(%#x): %v", name, stack, v)
			}
		default:
			t.Errorf("%s(%#x): %v", name, stack, v)
		}
	}()
	began := time.Now()
	f.call(in, stack)
	if took := time.Since(began); took > 8*time.Minute {
		t.Errorf("%s(%#x) takes %v", name, stack, took)
	}
	return true
}

// A module that would have executables run is refused with the name of the first.
func TestDescribedExecutables(t *testing.T) {
	for list, want := range map[string]string{`[]`: "", `["blast"]`: `it needs the executable "blast"`} {
		_, err := ParseDescription([]byte(`{"abi":1,"name":"a","executables":` + list + `}`))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// Guards that a module is given a default as it has said it, a tab as a tab.
func TestDescribedDefaults(t *testing.T) {
	d, err := ParseDescription([]byte(`{"abi":1,"name":"a","flags":[{"name":"between","default":"\t"}]}`))
	if err != nil || d.Flags[0].Default != "\t" {
		t.Errorf("%+v, %v", d, err)
	}
}

// FuzzDescription reads what modules say of themselves: it is refused in one line, or fit to be shown.
func FuzzDescription(f *testing.F) {
	for _, text := range []string{`{"abi":1,"name":"x"}`, `{"abi":2,"name":"x"}`, `{"abi":1,"name":"\u001b[31m"}`, `[]`,
		`{"abi":1,"name":"x","flags":[{"name":"file"}]}`, `{"abi":1,"name":"x","long":"a\nb\u0007","args":"N"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := ParseDescription(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\033") {
				t.Errorf("%q is refused as %q", text, err)
			}
			return
		}
		shown := append([]string{d.Name, d.Summary, d.Args, strings.ReplaceAll(d.Long, "\n", "")}, d.Examples...)
		for _, flag := range d.Flags {
			shown = append(shown, flag.Name, flag.Usage)
			if flag.Name == filesFlag {
				t.Errorf("%q has the command's own flag", text)
			}
		}
		for _, s := range shown {
			if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
				t.Errorf("%q is shown as %q", text, s)
			}
		}
	})
}
