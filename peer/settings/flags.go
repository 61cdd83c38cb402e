package settings

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags adds flags for some settings, given by their names in the file; all of them if none is given. Values are
// checked by Load, which says where a wrong one stands.
func AddFlags(flags *pflag.FlagSet, names ...string) {
	for _, k := range keys() {
		if len(names) > 0 && !slices.Contains(names, k.name) {
			continue
		}
		f := flags.VarPF(&given{word: k.placeholder()}, k.flag(), "", usage(k))
		if k.kind == boolKind {
			f.NoOptDefVal = "true"
		}
	}
}

// Given collects the values of such flags, for Sources.
func Given(flags *pflag.FlagSet) map[string][]string {
	values := map[string][]string{}
	flags.Visit(func(f *pflag.Flag) {
		if g, ok := f.Value.(*given); ok {
			values[strings.ReplaceAll(f.Name, "-", "_")] = g.texts
		}
	})
	return values
}

// usage explains a flag: the first sentence, as flags are explained.
func usage(k *key) string {
	text := strings.TrimSuffix(k.about[0], ".")
	if strings.HasPrefix(k.want, "one of ") {
		text += ": " + strings.TrimPrefix(strings.ReplaceAll(k.want, `"`, ""), "one of ")
	}
	if k.kind == listKind {
		text += "; may be given several times"
	}
	if strings.HasPrefix(text, "MiB ") {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// placeholder is what the help shows for a value: the key's own word, or what says enough of its kind.
func (k *key) placeholder() string {
	switch {
	case k.word != "":
		return k.word
	case k.kind == pathKind:
		return "DIR"
	case k.kind == boolKind:
		return "bool" // shown as nothing
	case k.kind == numberKind:
		return "N"
	case k.kind == durationKind:
		return "duration"
	}
	return "NAME"
}

// A given is the value of a flag as it was written.
type given struct {
	word  string // that the help shows for it
	texts []string
}

func (g *given) String() string { return strings.Join(g.texts, " ") }
func (g *given) Type() string   { return g.word }
func (g *given) Set(s string) error {
	g.texts = append(g.texts, s)
	return nil
}
