package thrift

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// letGoOfFiles has this process take up anew, when it needs them, the pages of files that it has mapped and not
// changed: its program and libraries. Where the system does not say what is mapped, it does nothing.
//
// Where the cache of files has large pages, one look would bring 2 MiB back, and a daemon that does nothing looks
// into each of them within seconds: so small ones are asked for. Jobs have a process of their own, which keeps its
// large ones.
func letGoOfFiles() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range unchanged(f) {
		for _, advice := range []uintptr{syscall.MADV_NOHUGEPAGE, syscall.MADV_DONTNEED} {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, advice)
		}
	}
}

// A mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// readOnly are the rights of a private mapping that cannot be written to.
var readOnly = map[string]bool{"r--p": true, "r-xp": true}

// unchanged reads which mappings are of a file, cannot be written to, and never were: what the loader has written to
// before it protected it would be lost. Anonymous and Swap are pages of a mapping that are no longer the file's.
func unchanged(smaps io.Reader) (list []mapping) {
	var m mapping
	var ofFile, anonymous, swapped bool
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "Anonymous:":
			anonymous = words[1] != "0"
		case "Swap:":
			swapped = words[1] != "0"
		case "VmFlags:": // the last line of a mapping
			if ofFile && !anonymous && !swapped {
				list = append(list, m)
			}
			ofFile = false
		default:
			if strings.HasSuffix(words[0], ":") { // most are of no use here
				continue
			}
			var from, to uintptr
			if n, _ := fmt.Sscanf(words[0], "%x-%x", &from, &to); n == 2 {
				m = mapping{from: from, to: to}
				ofFile = len(words) > 5 && words[5][0] == '/' && readOnly[words[1]]
				anonymous, swapped = true, true // until it is said that they are not
			}
		}
	}
	return list
}
