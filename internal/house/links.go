package house

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	mdLink  = regexp.MustCompile(`\]\(([^)\s]+)(?:\s+"[^"]*")?\)`)
	mdCode  = regexp.MustCompile("`([^`\n]+)`")
	mdPath  = regexp.MustCompile(`^\.?[\w-]+(/[\w.*{},-]+)*/?$|^[\w-]+\.(md|conf|mod)$`)
	mdMake  = regexp.MustCompile(`^(?:\$ )?make ([a-z][a-z-]*)`)
	mdTitle = regexp.MustCompile(`(?m)^#+ +(.+?)\s*$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Links reports what the documents name and the tree does not have: targets of relative links and their headings, paths
// in backquotes that begin with a folder of the tree, and make targets, also at the beginning of a line of a code
// block.
func Links(t *Tree) (problems []string) {
	for _, p := range slices.Sorted(maps.Keys(t.Docs)) {
		raw := strings.Split(t.Docs[p], "\n")
		for i, line := range strings.Split(withoutFences(t.Docs[p]), "\n") {
			if m := mdMake.FindStringSubmatch(raw[i]); m != nil && line == "" && !t.Targets[m[1]] {
				problems = append(problems, fmt.Sprintf("%s:%d: make %s: the Makefile has no such target", p, i+1,
					m[1]))
			}
			for _, m := range mdLink.FindAllStringSubmatch(line, -1) {
				if why := t.link(p, m[1]); why != "" {
					problems = append(problems, fmt.Sprintf("%s:%d: link %s: %s", p, i+1, m[1], why))
				}
			}
			for _, m := range mdCode.FindAllStringSubmatch(line, -1) {
				if why := t.named(p, m[1]); why != "" {
					problems = append(problems, fmt.Sprintf("%s:%d: `%s`: %s", p, i+1, m[1], why))
				}
			}
		}
	}
	return problems
}

// withoutFences blanks the lines of fenced code blocks.
func withoutFences(text string) string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, line := range lines {
		mark := strings.HasPrefix(strings.TrimSpace(line), "```")
		if mark || fenced {
			lines[i] = ""
		}
		if mark {
			fenced = !fenced
		}
	}
	return strings.Join(lines, "\n")
}

// link says why the target of a link in a document does not exist; "" if it does, or is elsewhere on the net.
func (t *Tree) link(doc, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, heading, _ := strings.Cut(target, "#")
	p := doc
	if file != "" {
		p = path.Join(path.Dir(doc), file)
	}
	if _, err := fs.Stat(t.FS, p); err != nil {
		return "there is no such file"
	}
	if text, ok := t.Docs[p]; ok && heading != "" && !slices.Contains(headings(text), heading) {
		return "there is no such heading"
	}
	return ""
}

// headings gives the anchors that GitHub makes of a document's headings.
func headings(text string) (anchors []string) {
	for _, m := range mdTitle.FindAllStringSubmatch(withoutFences(text), -1) {
		anchors = append(anchors, strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return anchors
}

// named says why a path or make target that a document names in backquotes does not exist; "" if it does or
// is neither.
func (t *Tree) named(doc, code string) string {
	if m := mdMake.FindStringSubmatch(code); m != nil {
		if !t.Targets[m[1]] {
			return "the Makefile has no such target"
		}
		return ""
	}
	if !mdPath.MatchString(code) || !strings.ContainsAny(code, "/.") || strings.ContainsAny(code, "{}") {
		return ""
	}
	for _, base := range []string{".", path.Dir(doc)} {
		if ok, _ := fs.Glob(t.FS, path.Join(base, code)); len(ok) > 0 {
			return ""
		}
	}
	first, _, nested := strings.Cut(code, "/")
	if nested {
		if _, err := fs.Stat(t.FS, first); err != nil {
			return "" // not about this tree
		}
	}
	return "there is no such file"
}

// roomsPage is where every room has to be named.
const roomsPage = "docs/architecture.md"

// NamedRooms reports rooms that roomsPage does not name in backquotes, if there is such a page.
func NamedRooms(t *Tree) (problems []string) {
	page, ok := t.Docs[roomsPage]
	if !ok {
		return nil
	}
	for _, r := range rooms {
		special := strings.HasPrefix(r.dir, "apps/") // each is one application
		if !special && !strings.Contains(page, "`"+r.dir+"`") {
			problems = append(problems, fmt.Sprintf("%s: the room `%s` is not there: say what it is for",
				roomsPage, r.dir))
		}
	}
	return problems
}
