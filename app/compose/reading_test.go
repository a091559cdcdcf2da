package compose

import (
	"os"
	"path/filepath"
	"testing"

	"buddy/app/apptest"
)

// Rules apply at once only from a file whose every change needs approval; allow rules never come from a project.
func TestReloadOfRulesIsGuarded(t *testing.T) {
	d := apptest.NewSettings(t, "")
	other := filepath.Join(filepath.Dir(d.File), "other.toml")
	d.Write(other, "")
	for _, tt := range []struct {
		flags   Options
		project bool
		text    string
		want    int // number of rules
		live    bool
	}{
		{Options{}, false, "[[allow]]\ntool = \"time\"\n", 1, true},
		{Options{Config: other}, false, "[[allow]]\ntool = \"time\"\n", 1, false},
		{Options{}, true, "[[allow]]\ntool = \"time\"\n[[deny]]\ntool = \"todo\"\n", 1, true},
	} {
		path := d.File
		if tt.project {
			d.Write(d.File, "")
			cwd, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(cwd, "buddy.toml")
		} else if tt.flags.Config != "" {
			path = other
		}
		d.Write(path, tt.text)
		r := ReadSettings(&tt.flags)
		if r.Err != nil || len(r.Rules) != tt.want || r.Live != tt.live || tt.project && r.Rules[0].Decision != "deny" {
			t.Errorf("%+v: %v %v, live %v", tt, r.Err, r.Rules, r.Live)
		}
	}
	if err := os.Remove(d.File); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, d.File); err != nil {
		t.Fatal(err)
	}
	if RulesLive("") {
		t.Error("a link to a file of another name is as good as buddy.toml")
	}
	if err := os.Remove(d.File); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"buddy.toml", "agent.toml"} { // the first overrides the second
		want := name == "buddy.toml"
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if RulesLive("") != want {
			t.Errorf("./%s: %v", name, !want)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
