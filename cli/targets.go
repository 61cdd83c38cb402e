package cli

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/host"
)

// maxTargets bounds what names members, in a file or a line of standard input, in bytes.
const maxTargets = 256 << 10

// targets gives the addresses and invitations that words mean. "@FILE" stands for what is in a file and "-"
// for a line of in, standard input, so that an invitation need not be where the list of processes and the shell's
// history show it. The whole line that satin-peer invite prints is good, too.
func targets(words []string, in io.Reader) ([]string, error) {
	var found []string
	for _, word := range words {
		text := word
		if name, ok := strings.CutPrefix(word, "@"); ok {
			content, err := apps.ReadFile(name, maxTargets)
			if err != nil {
				return nil, err
			}
			text = string(content)
		} else if word == "-" {
			line, err := bufio.NewReader(io.LimitReader(in, maxTargets)).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, failed("standard input: %w", err)
			}
			text = line
		}
		found = append(found, pieces(text)...)
	}
	found = withoutCommand(found)
	if len(words) > 0 && len(found) == 0 { // who means to join must not found a swarm of his own
		what := cmp.Or(strings.Join(words, " "), "ADDRESS|INVITATION")
		if what == "-" {
			what = "standard input"
		}
		return nil, &apps.InputError{What: what, Got: "nothing", Want: "an address or an invitation"}
	}
	for _, f := range found {
		if err := checkVersion(f); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// pieces are the words of a text. What follows an invitation and cannot be another one, or an address, is the
// rest of it: mail breaks long lines.
func pieces(text string) (words []string) {
	for _, f := range strings.Fields(text) {
		f = strings.Trim(f, "\"'`")
		last := len(words) - 1
		switch {
		case f == "":
		case last >= 0 && host.IsInvitation(words[last]) && !strings.HasPrefix(f, "/") &&
			!strings.Contains(f, "satin-"):
			words[last] += f
		default:
			words = append(words, f)
		}
	}
	return words
}

// withoutCommand leaves out "satin-peer join", and the prompt before it.
func withoutCommand(words []string) (rest []string) {
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == "$":
		case path.Base(words[i]) == "satin-peer" && i+1 < len(words) && words[i+1] == "join":
			i++
		default:
			rest = append(rest, words[i])
		}
	}
	return rest
}

// anyVersion is the beginning of an invitation, also of one to come.
var anyVersion = regexp.MustCompile(`satin-invite-\d+:`)

// checkVersion refuses what is an invitation, but not one that this program reads.
func checkVersion(word string) error {
	at := anyVersion.FindStringIndex(word)
	if at == nil || at[0] == 0 && word[:at[1]] == "satin-invite-1:" {
		return nil
	}
	want := "an invitation or address with nothing before it"
	if at[0] == 0 {
		want = "an invitation that begins with satin-invite-1: this one is of a newer version of satin-peer, install that"
	}
	return &apps.InputError{What: "ADDRESS|INVITATION", Got: masked(word), Want: want}
}
