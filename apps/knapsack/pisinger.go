package knapsack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// maxFile is the largest file that is read, in bytes. Those of Pisinger's collections have up to some 10 MB.
const maxFile = 64 << 20

// maxCapacity is more than the heaviest items of the largest instance weigh together.
const maxCapacity = 1e15

// A file is the part of a file that describes one instance.
type file struct {
	instance *Instance
	optimum  int64 // the highest profit, if the file says so; 0 if not
}

// parse reads the instance with a number, from 1, from a file as Pisinger publishes them: for each instance
//
//	knapPI_1_50_1000_1   its name
//	n 50                 the number of items
//	c 995                the capacity
//	z 8373               the highest profit; this line and the next may be missing
//	time 0.00            the seconds in which that was found
//	1,94,485,0           for each item its number from 1, its profit, its weight, and 1 if it is to be taken
//	-----
//
// where blank lines do not count. Name names the file in errors. Instances before the wanted one are not looked into.
func parse(name string, data []byte, number int) (file, error) {
	r := &reader{name: name, rest: data}
	for i := 1; ; i++ {
		if err := r.next(); err != nil {
			if i > 1 && errors.Is(err, io.EOF) {
				return file{}, &apps.InputError{What: "--instance", Got: strconv.Itoa(number),
					Want: fmt.Sprintf("at most %d, the instances in %s", i-1, name)}
			}
			return file{}, r.missing(err, "the name of an instance")
		}
		if i == number {
			return r.instance()
		}
		for r.text != separator {
			if err := r.next(); err != nil {
				return file{}, r.missing(err, separator+" at the end of an instance")
			}
		}
	}
}

const separator = "-----"

// reader reads a file line by line.
type reader struct {
	name string
	rest []byte
	line int
	text string // of the line, without blanks around it
}

// next goes to the next line that is not blank.
func (r *reader) next() error {
	for len(r.rest) > 0 {
		line, rest, _ := bytes.Cut(r.rest, []byte("\n"))
		r.rest = rest
		r.line++
		if r.text = string(bytes.TrimSpace(line)); r.text != "" {
			return nil
		}
	}
	return io.EOF
}

// wrong says what the line should have been.
func (r *reader) wrong(want string) error {
	return &apps.InputError{What: fmt.Sprintf("%s:%d", r.name, r.line), Got: r.text, Want: want}
}

// missing says what should have followed where the file ends.
func (r *reader) missing(err error, want string) error {
	if errors.Is(err, io.EOF) {
		return &apps.InputError{What: r.name, Got: "end of file", Want: want}
	}
	return err
}

// instance reads an instance whose name is the current line.
func (r *reader) instance() (f file, err error) {
	title := r.text
	if strings.ContainsAny(title, ", ") || title == separator ||
		strings.ContainsFunc(title, func(c rune) bool { return !strconv.IsPrint(c) }) {
		return f, r.wrong("the name of an instance")
	}
	n, err := r.header("n", 1, maxItems)
	if err != nil {
		return f, err
	}
	capacity, err := r.header("c", 1, maxCapacity)
	if err != nil {
		return f, err
	}
	if err := r.next(); err != nil {
		return f, r.missing(err, "the items")
	}
	if strings.HasPrefix(r.text, "z ") {
		if f.optimum, err = r.value("z", 0, math.MaxInt64); err != nil {
			return f, err
		}
		if err := r.next(); err != nil {
			return f, r.missing(err, "the items")
		}
	}
	if strings.HasPrefix(r.text, "time ") {
		if err := r.next(); err != nil {
			return f, r.missing(err, "the items")
		}
	}
	profit, weight := make([]int64, 0, n), make([]int64, 0, n)
	for number := int64(1); ; number++ {
		p, w, err := r.item(number)
		if err != nil {
			return f, err
		}
		profit, weight = append(profit, p), append(weight, w)
		if number == n {
			break
		}
		if err := r.next(); err != nil {
			return f, r.missing(err, fmt.Sprintf("%d items, not %d", n, number))
		}
	}
	if err := r.next(); err != nil {
		return f, r.missing(err, separator+" at the end of an instance")
	}
	if r.text != separator {
		return f, r.wrong(fmt.Sprintf("%s after %d items", separator, n))
	}
	f.instance = newInstance(title, capacity, profit, weight)
	return f, nil
}

// header reads the next line, a word and a number.
func (r *reader) header(word string, lo, hi int64) (int64, error) {
	if err := r.next(); err != nil {
		return 0, r.missing(err, fmt.Sprintf("%q and a number", word))
	}
	return r.value(word, lo, hi)
}

// value reads the current line, a word and a number.
func (r *reader) value(word string, lo, hi int64) (int64, error) {
	text, found := strings.CutPrefix(r.text, word+" ")
	x, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if !found || err != nil || x < lo || x > hi {
		return 0, r.wrong(fmt.Sprintf("%q and a whole number from %d to %d", word, lo, hi))
	}
	return x, nil
}

// item reads the current line, the item with a number.
func (r *reader) item(number int64) (profit, weight int64, err error) {
	fields := strings.Split(r.text, ",")
	var values [4]int64
	if len(fields) != 3 && len(fields) != 4 {
		return 0, 0, r.wrong(fmt.Sprintf("item %d as number,profit,weight,taken", number))
	}
	for i, text := range fields {
		if values[i], err = strconv.ParseInt(strings.TrimSpace(text), 10, 64); err != nil {
			return 0, 0, r.wrong(fmt.Sprintf("item %d as number,profit,weight,taken", number))
		}
	}
	switch profit, weight = values[1], values[2]; {
	case values[0] != number:
		return 0, 0, r.wrong(fmt.Sprintf("item %d, as they are in order", number))
	case profit < 1 || profit > maxCoefficient || weight < 1 || weight > maxCoefficient:
		return 0, 0, r.wrong(fmt.Sprintf("a profit and a weight from 1 to %d", maxCoefficient))
	case values[3] != 0 && values[3] != 1:
		return 0, 0, r.wrong("0 or 1 at the end: whether the item is taken")
	}
	return profit, weight, nil
}

// write writes an instance and a solution as a file that parse reads. The time, which is not known here, is
// written as 0.
func (in *Instance) write(to io.Writer, s Solution) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nn %d\nc %d\nz %d\ntime 0.00\n", in.Name, in.size(), in.Capacity, s.Profit)
	lines := make([]string, in.size())
	for i, number := range in.Number {
		taken := 0
		if s.Taken.has(i) {
			taken = 1
		}
		lines[number-1] = fmt.Sprintf("%d,%d,%d,%d\n", number, in.Profit[i], in.Weight[i], taken)
	}
	b.WriteString(strings.Join(lines, "") + separator + "\n\n")
	_, err := to.Write(b.Bytes())
	return err
}
