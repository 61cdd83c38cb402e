//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/satin-peer/satin/internal/campaign"
)

// Guards that a campaign whose directory others have made writes no file outside of it, gives to others nothing that is
// not in it, and is not waited for.
func TestCampaignOfOthers(t *testing.T) {
	m, dir := newFakeMember(), filepath.Join(t.TempDir(), "w")
	f := newFake()
	f.dirs = home(t)
	try := func(code int, want string, args ...string) {
		t.Helper()
		f.out.Reset()
		f.err.Reset()
		got := f.runReal(append([]string{"campaign"}, args...)...)
		if text := f.out.String() + f.err.String(); got != code || !strings.Contains(text, want) {
			t.Errorf("%v: exit code %d, %q", args, got, text)
		}
	}
	try(exitBadInput, "writes no file", "new", dir, "--", "sat", "--waerden", "3,5,22", "--formula", dir+".cnf")
	try(0, "parts", "new", dir, "--parts", "4", "--", "sat", "--waerden", "3,5,22")
	const private = "nobody's business"
	secret := filepath.Join(t.TempDir(), "secret")
	d, err := openCampaign([]string{dir})
	if err = errors.Join(err, os.WriteFile(secret, []byte(private), 0o600)); err != nil {
		t.Fatal(err)
	}

	evil := *d.Plan
	evil.Args = append([]string{"--formula", secret}, d.Args...)
	if err := d.writeJSON(d.path(planFile), &evil); err != nil {
		t.Fatal(err)
	}
	try(exitBadInput, "a problem that writes no file", "run", dir, "--workers", "1")

	if err := errors.Join(os.Remove(d.path(lockFile)), os.Symlink(secret+"2", d.path(lockFile))); err != nil {
		t.Fatal(err)
	}
	try(exitFailed, "is no regular file", "run", dir, "--workers", "1")
	if _, err := os.Lstat(secret + "2"); err == nil {
		t.Error("a run has made a file where a link in the campaign leads")
	}
	p := campaign.Piece{Part: 1, File: strings.Repeat("ab", 32)}
	if err := errors.Join(d.writeJSON(d.path(planFile), d.Plan), d.writeJSON(d.record(0), &p),
		os.Symlink(secret, d.pieceFile(&p)), syscall.Mkfifo(d.record(2), 0o600)); err != nil {
		t.Fatal(err)
	}
	f = f.withDaemon(t, m)
	try(exitFailed, "is no regular file", "copies", dir)
	try(exitFailed, "is no regular file", "export", dir, filepath.Join(t.TempDir(), "out"))
	for _, b := range m.deposits {
		if strings.Contains(string(b), private) {
			t.Error("members have what only the user had")
		}
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != private {
		t.Errorf("the file outside is %.20q, %v", text, err)
	}
}

// Guards that the whole proof of a campaign does not wait for a pipe that stands in a piece's place.
func TestProofOfPipes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	f := newFake()
	f.dirs = home(t)
	if code := f.runReal("campaign", "new", dir, "--parts", "2", "--", "sat", "--waerden", "3,5,22"); code != 0 {
		t.Fatalf("exit code %d, %s", code, &f.err)
	}
	d, err := openCampaign([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	p := campaign.Piece{File: strings.Repeat("ab", 32)}
	for part := range d.pieces {
		p.Part = part + 1
		err = errors.Join(err, d.writeJSON(d.record(part), &p))
	}
	if err = errors.Join(err, syscall.Mkfifo(d.pieceFile(&p), 0o600)); err != nil {
		t.Fatal(err)
	}
	go func() { // whoever opens it all the same reads nothing
		if w, err := os.OpenFile(d.pieceFile(&p), os.O_WRONLY, 0); err == nil {
			w.Close()
		}
	}()
	code := f.runReal("campaign", "proof", dir, dir+".lrat")
	if code != exitFailed || !strings.Contains(f.err.String(), "want a file that can be read") {
		t.Errorf("exit code %d, %s", code, &f.err)
	}
	if r, err := os.OpenFile(d.pieceFile(&p), os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		r.Close()
	}
}

// Guards that the name of a run is written into the directory of a batch, or of a campaign, and not where a link leads.
func TestLinkInPlaceOfRun(t *testing.T) {
	f := newFake().withDaemon(t, newFakeMember())
	file, dir := lines(t, "3\n")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Symlink(file, filepath.Join(dir, "0001.run"))); err != nil {
		t.Fatal(err)
	}
	if code := f.run("run", "count", "--each", file, "--results", dir); code != 0 {
		t.Fatalf("exit code %d, %s", code, &f.err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "3\n" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
}
