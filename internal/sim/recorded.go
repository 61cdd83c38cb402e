package sim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Recorded is a job tree that was recorded from a run of a real application: which job spawned which, what
// each cost, and how large its argument and result were. Node.Form is a job's number in the file.
//
// The file is text: a first line "satin-tree 1 NAME", perhaps a line "twin" with the nanoseconds that the sequential
// program took, then a line a job, parents before children and siblings
// in the order of spawning (preorder):
//
//	children cost argument result [children cost]...
//
// children is the number of jobs it spawned, cost its own nanoseconds before that (its children's not included),
// argument and result their encoded sizes in bytes. A job that went on when they had all ended, and spawned again or
// only computed, has two numbers more for each time. "#" starts a comment.
type Recorded struct {
	Name string
	// Twin is what the sequential program took; 0: nobody knows.
	Twin time.Duration
	jobs []RecordedJob
	next []int32 // number of the job after the whole subtree of each
}

// RecordedJob is one line of a recorded tree.
type RecordedJob struct {
	RecordedPhase
	Arg    int // bytes
	Result int // bytes
	Later  []RecordedPhase
}

// RecordedPhase is what a job did until it waited for all that it had spawned, or ended.
type RecordedPhase struct {
	Children int
	Cost     time.Duration // before it spawned them
}

// all is how many jobs it spawned in all its phases.
func (j *RecordedJob) all() int {
	n := j.Children
	for _, p := range j.Later {
		n += p.Children
	}
	return n
}

// Bounds of recorded trees.
const (
	maxRecordedJobs  = 5_000_000
	maxRecordedCost  = int(time.Hour)
	maxTwin          = 1000 * maxRecordedCost
	maxRecordedBytes = 16 << 20
	maxRecordedWords = 4 + 2*1000
	recordedMagic    = "satin-tree 1 "
)

var errNoMagic = fmt.Errorf("a recorded tree begins with %q and its name", recordedMagic)

// NewRecorded makes a tree of jobs in preorder. It fails if they do not form one tree, or if there are too many.
func NewRecorded(name string, jobs []RecordedJob) (*Recorded, error) {
	r, job, err := newRecorded(name, jobs)
	if err != nil {
		return nil, fmt.Errorf("job %d: %w", job, err)
	}
	return r, nil
}

// newRecorded says in its error which job it is about, from 1.
func newRecorded(name string, jobs []RecordedJob) (r *Recorded, job int, err error) {
	if len(jobs) == 0 || len(jobs) > maxRecordedJobs {
		return nil, len(jobs), fmt.Errorf("%d jobs; 1 to %d are possible", len(jobs), maxRecordedJobs)
	}
	r = &Recorded{Name: name, jobs: jobs, next: make([]int32, len(jobs))}
	// Subtrees end where the jobs that their roots have announced have all come: a stack of what is still to come.
	type open struct{ job, left int }
	var stack []open
	for i, j := range jobs {
		for k, p := range j.Later {
			if j.Children == 0 || p.Children == 0 && k < len(j.Later)-1 {
				return nil, i + 1, errors.New("only its last phase may spawn nothing")
			}
		}
		if i > 0 && len(stack) == 0 {
			return nil, i + 1, errors.New("it belongs to no job before it: the tree was complete")
		}
		stack = append(stack, open{i, j.all()})
		for len(stack) > 0 && stack[len(stack)-1].left == 0 {
			r.next[stack[len(stack)-1].job] = int32(i + 1)
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				stack[len(stack)-1].left--
			}
		}
	}
	if len(stack) > 0 {
		top := stack[len(stack)-1]
		return nil, top.job + 1, fmt.Errorf("the tree ends, but it has %d children more", top.left)
	}
	return r, 0, nil
}

// ReadRecorded parses a recorded tree; name is that of the file, for errors, which say the line.
func ReadRecorded(in io.Reader, name string) (*Recorded, error) {
	scanner := bufio.NewScanner(in)
	var jobs []RecordedJob
	var lines []int // of the jobs
	title, line, twin := "", 0, time.Duration(0)
	for scanner.Scan() {
		line++
		text := scanner.Text()
		if line == 1 {
			if title, _ = strings.CutPrefix(text, recordedMagic); title == text || title == "" {
				return nil, fmt.Errorf("%s:1: %w", name, errNoMagic)
			}
			continue
		}
		text, _, _ = strings.Cut(text, "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if word, rest, _ := strings.Cut(text, " "); word == "twin" && len(jobs) == 0 {
			n, err := strconv.Atoi(strings.TrimSpace(rest))
			if err != nil || n < 0 || n > maxTwin {
				return nil, fmt.Errorf("%s:%d: %.40q is not a whole number from 0 to %d", name, line, rest, maxTwin)
			}
			twin = time.Duration(n)
			continue
		}
		j, err := parseJob(text)
		if err == nil && len(jobs) == maxRecordedJobs {
			err = fmt.Errorf("more than %d jobs", maxRecordedJobs)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		jobs, lines = append(jobs, j), append(lines, line)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	if line == 0 {
		return nil, fmt.Errorf("%s:1: %w", name, errNoMagic)
	}
	r, job, err := newRecorded(title, jobs)
	if err != nil {
		if job > 0 {
			line = lines[job-1]
		}
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	r.Twin = twin
	return r, nil
}

func parseJob(text string) (j RecordedJob, err error) {
	words := strings.Fields(text)
	if len(words) < 4 || len(words)%2 != 0 || len(words) > maxRecordedWords {
		return j, fmt.Errorf("%d numbers; a job is four: children, cost, argument, result, and two for each phase "+
			"that follows", len(words))
	}
	bounds := [4]int{maxRecordedJobs, maxRecordedCost, maxRecordedBytes, maxRecordedBytes}
	n := make([]int, len(words))
	for i := range n {
		bound := bounds[i%2]
		if i < len(bounds) {
			bound = bounds[i]
		}
		if n[i], err = strconv.Atoi(words[i]); err != nil || n[i] < 0 || n[i] > bound {
			return j, fmt.Errorf("%.40q is not a whole number from 0 to %d", words[i], bound)
		}
	}
	j = RecordedJob{RecordedPhase: RecordedPhase{n[0], time.Duration(n[1])}, Arg: n[2], Result: n[3]}
	for i := 4; i < len(n); i += 2 {
		j.Later = append(j.Later, RecordedPhase{n[i], time.Duration(n[i+1])})
	}
	return j, nil
}

// Write writes the tree as ReadRecorded reads it.
func (r *Recorded) Write(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s%s\n", recordedMagic, strings.ReplaceAll(r.Name, "\n", " "))
	if r.Twin > 0 {
		fmt.Fprintf(w, "twin %d\n", int64(r.Twin))
	}
	for _, j := range r.jobs {
		fmt.Fprintf(w, "%d %d %d %d", j.Children, int64(j.Cost), j.Arg, j.Result)
		for _, p := range j.Later {
			fmt.Fprintf(w, " %d %d", p.Children, int64(p.Cost))
		}
		w.WriteByte('\n')
	}
	return w.Flush()
}

// Root of the tree.
func (r *Recorded) Root() Node { return r.node(0) }

func (r *Recorded) node(i int32) Node { return Node{Key: mix(uint64(i) ^ 0x7265636f7264), Form: i} }

// Children of a job, in its first phase.
func (r *Recorded) Children(n Node, buf []Node) []Node {
	return r.siblings(n.Form+1, r.jobs[n.Form].Children, buf)
}

// siblings appends so many jobs, of which the first is known.
func (r *Recorded) siblings(at int32, count int, buf []Node) []Node {
	for range count {
		buf = append(buf, r.node(at))
		at = r.next[at]
	}
	return buf
}

// Next are the children of a later phase.
func (r *Recorded) Next(n Node, phase int, buf []Node) []Node {
	j := &r.jobs[n.Form]
	if phase > len(j.Later) {
		return buf
	}
	at := n.Form + 1
	for range j.Children {
		at = r.next[at]
	}
	for _, p := range j.Later[:phase-1] {
		for range p.Children {
			at = r.next[at]
		}
	}
	return r.siblings(at, j.Later[phase-1].Children, buf)
}

// Cost is what the job itself cost, in all its phases.
func (r *Recorded) Cost(n Node) int64 {
	j := &r.jobs[n.Form]
	sum := j.Cost
	for _, p := range j.Later {
		sum += p.Cost
	}
	return int64(sum)
}

// Any is false: a recorded search is repeated as it was, whatever ended it.
func (r *Recorded) Any(Node) bool { return false }

// Found is false.
func (r *Recorded) Found(Node) bool { return false }

// ArgBytes is what was recorded.
func (r *Recorded) ArgBytes(n Node) int { return r.jobs[n.Form].Arg }

// ResultBytes is what was recorded.
func (r *Recorded) ResultBytes(n Node) int { return r.jobs[n.Form].Result }
