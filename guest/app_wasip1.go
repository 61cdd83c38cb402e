package guest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strings"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/wire"
)

// served is the application.
var served apps.App

// Serve makes this module run the application. Call it once, in an init function.
func Serve(app apps.App) { served = app }

type flagText struct {
	Name    string `json:"name"`
	Usage   string `json:"usage"`
	Default string `json:"default"`
	Bool    bool   `json:"bool"`
}

// flags declares the application's flags and lists them, in order.
func flags() (fs *flag.FlagSet, build func([]string) (*apps.Problem, error), list []flagText) {
	fs = flag.NewFlagSet(served.Name, flag.ContinueOnError)
	build = served.Setup(fs)
	fs.VisitAll(func(f *flag.Flag) {
		b, is := f.Value.(interface{ IsBoolFlag() bool })
		list = append(list, flagText{f.Name, f.Usage, f.DefValue, is && b.IsBoolFlag()})
	})
	return fs, build, list
}

func description() []byte {
	_, _, list := flags()
	d := map[string]any{
		"abi": 1, "name": served.Name, "summary": served.Summary, "args": served.Args, "long": served.Long,
		"examples": served.Examples, "flags": list,
	}
	if len(served.Executables) > 0 { // for the host to refuse
		d["executables"] = served.Executables
	}
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts and flags only
	}
	return b
}

// problem is what the application makes of its arguments: strings that end with zero bytes, the flags' values last.
func problem(args []byte) (*apps.Problem, error) {
	fs, build, list := flags()
	given := strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")
	given = given[:len(given)-1]
	n := len(given) - len(list)
	if n < 0 {
		return nil, errors.New("arguments: want the values of all flags")
	}
	for i, f := range list {
		if given[n+i] == f.Default {
			continue
		}
		if err := fs.Set(f.Name, given[n+i]); err != nil {
			return nil, fmt.Errorf("--%s: want a value that it can have: %v", f.Name, err)
		}
	}
	return build(given[:n])
}

// begin gives the root job: title, function 0, and as its argument the length of args, args, and the argument of the
// function that is the root's.
func begin(args []byte) ([]byte, error) {
	p, err := problem(args)
	if in := (*apps.InputError)(nil); errors.As(err, &in) {
		return nil, fmt.Errorf("%s: want %s", in.What, in.Want)
	}
	if err != nil {
		return nil, err
	}
	if p.Writes() {
		return nil, errors.New("arguments: want such that no file is to be written: modules write none")
	}
	if err := tellNames(p.Root, p.Arg); err != nil { // a large input is a constant of the host's
		return nil, err
	}
	arg, err := wire.Value().Encode(p.Arg)
	if err != nil {
		return nil, err
	}
	b := append([]byte(p.Title), 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(args)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(p.Root)))
	return append(append(append(b, args...), p.Root...), arg...), nil
}

// parts takes the root job's argument apart.
func parts(b []byte) (args []byte, root string, arg []byte, err error) {
	if len(b) < 8 {
		return nil, "", nil, errors.New("the root job's argument is cut")
	}
	n, k := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
	if b = b[8:]; n+k > uint64(len(b)) {
		return nil, "", nil, errors.New("the root job's argument is cut")
	}
	return b[:n], string(b[n : n+k]), b[n+k:], nil
}

func runRoot(b []byte) int64 {
	_, root, arg, err := parts(b)
	if _, known := engine.Lookup(root); err == nil && !known {
		err = fmt.Errorf("there is no function %q", root)
	}
	if err != nil {
		return placed(nil, err)
	}
	out := runNamed(root, arg)
	if out[0] == returned {
		return place(out[1:], false)
	}
	var f failure
	if err := wire.Shared().Decode(out[1:], &f); err != nil {
		return placed(nil, err)
	}
	return place([]byte(f.String()), true)
}

// result gives the problem and the result that the host shows.
func result(in []byte) (*apps.Problem, any, error) {
	if len(in) < 8 {
		return nil, nil, errors.New("the answer is cut")
	}
	n, k := uint64(binary.LittleEndian.Uint32(in)), uint64(binary.LittleEndian.Uint32(in[4:]))
	from := 8 + (n+7)&^7
	if from+k > uint64(len(in)) {
		return nil, nil, errors.New("the answer is cut")
	}
	args, root, _, err := parts(in[8 : 8+n])
	if err != nil {
		return nil, nil, err
	}
	p, err := problem(args)
	if err != nil {
		return nil, nil, err
	}
	f, _ := engine.Lookup(root)
	v := reflect.New(f.Result)
	if err := wire.Shared().Decode(in[from:from+k], v.Interface()); err != nil {
		return nil, nil, err
	}
	return p, v.Elem().Interface(), nil
}

func shown(in []byte) ([]byte, error) {
	p, v, err := result(in)
	if err != nil {
		return nil, err
	}
	a := p.Answer(v)
	b := append([]byte(a.Text), 0)
	if a.Fields == nil {
		return b[:len(b)-1], nil
	}
	fields, err := json.Marshal(a.Fields)
	return append(b, fields...), err
}

func checked(in []byte) ([]byte, error) {
	p, v, err := result(in)
	if err == nil {
		err = p.Wrong(v)
	}
	return nil, err
}
