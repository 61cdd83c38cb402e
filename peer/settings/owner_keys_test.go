package settings

import (
	"reflect"
	"testing"
)

// Guards that what the owner of a machine may say is one list: each of its settings changes what the daemon keeps to,
// and there is nothing to keep to that no setting says.
func TestOwnersSettingsAreAllPreferences(t *testing.T) {
	read := func(text string) reflect.Value {
		d := dirs(t)
		write(t, d, text)
		l, err := Load(Sources{Dirs: d})
		if err != nil {
			t.Fatal(err)
		}
		return reflect.ValueOf(l.Prefers(8))
	}
	usual := read("\n")
	said := map[string]bool{}
	for _, name := range OwnerNames() {
		changed := read(name + " = " + samples()[name][0] + "\n")
		counts := false
		for i := range changed.NumField() {
			if !reflect.DeepEqual(changed.Field(i).Interface(), usual.Field(i).Interface()) {
				counts, said[changed.Type().Field(i).Name] = true, true
			}
		}
		if !counts {
			t.Errorf("%s changes nothing", name)
		}
	}
	for i := range usual.NumField() {
		if name := usual.Type().Field(i).Name; !said[name] {
			t.Errorf("no setting says %s", name)
		}
	}
}
