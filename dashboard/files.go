package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/satin-peer/satin/internal/durable"
)

// Names of the files in Config.Dir. Each holds one line.
const (
	AddressFile = "dashboard.url"     // where the page is, "http://127.0.0.1:41235"
	ViewFile    = "dashboard.view"    // the token of those who may look
	ControlFile = "dashboard.control" // the token of those who may act
)

// Files are those that a server wrote.
type files struct {
	dir, view string // where they are, and the first of the tokens in them
	paths     []string
}

// writeFiles writes the files for a server, in place of those of an earlier one.
func writeFiles(dir, base string, tokens map[Level]string) (*files, error) {
	f := &files{dir: dir, view: tokens[View]}
	for _, file := range [][2]string{{ViewFile, tokens[View]}, {ControlFile, tokens[Control]}, {AddressFile, base}} {
		path := filepath.Join(dir, file[0])
		if err := durable.Write(path, 0o600, false, durable.Bytes([]byte(file[1]+"\n"))); err != nil {
			return nil, errors.Join(fmt.Errorf("the dashboard's address and tokens cannot be written: %w", err),
				f.remove())
		}
		f.paths = append(f.paths, path)
	}
	return f, nil
}

// remove removes them, unless they are those of a later server by now: where the directory was removed under a daemon,
// another one may have been started in its place.
func (f *files) remove() (err error) {
	if view, err := readLine(filepath.Join(f.dir, ViewFile)); err == nil && view != f.view {
		return nil
	}
	for _, path := range f.paths {
		err = errors.Join(err, durable.Remove(path))
	}
	return err
}

// ErrNotRunning is that of Ask when no server has written files there, or it does not answer.
var ErrNotRunning = errors.New("no dashboard is running")

// Ask gets a link from the server that wrote its files into dir. It waits for the server until ctx ends.
func Ask(ctx context.Context, dir string, l Level) (string, error) {
	base, err := readLine(filepath.Join(dir, AddressFile))
	if err != nil {
		return "", err
	}
	token, err := readLine(filepath.Join(dir, ControlFile))
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(linkBody{l})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+apiPath+"/links", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", jsonType)
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // nor a proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	reply, err := client.Do(r)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxBody))
	if err != nil {
		return "", err
	}
	if reply.StatusCode != http.StatusOK {
		var f Fault
		if json.Unmarshal(text, &f) != nil || f.Text == "" {
			f.Text = reply.Status
		}
		return "", fmt.Errorf("the dashboard at %s refuses: %s", base, f.Text)
	}
	var link Link
	if err := json.Unmarshal(text, &link); err != nil {
		return "", fmt.Errorf("the reply of the dashboard at %s cannot be read: %w", base, err)
	}
	// A daemon that was killed leaves its files, and its port to anybody: another program's word is not opened.
	if secret, ok := strings.CutPrefix(link.Link, base+loginMark); !ok || strings.Trim(secret, secretLetters) != "" {
		return "", fmt.Errorf("%w: another program answers at %s", ErrNotRunning, base)
	}
	return link.Link, nil
}

// secretLetters are those of rand.Text.
const secretLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

func readLine(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNotRunning
	}
	return strings.TrimSpace(string(text)), err
}
