package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/app/apptest"
	"buddy/app/compose"
)

// A rule of the settings is deleted from the file in which it stands; one that came while the
// session ran is looked for.
func TestRemoveRuleFromItsFile(t *testing.T) {
	home := apptest.Home(t)
	file := filepath.Join(home, "c.toml")
	if err := os.WriteFile(file, []byte("[[deny]]\nprefix = [\"git\", \"push\"]\n\n[[ask]]\nprefix = [\"make\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, _, err := compose.LoadConfig(&compose.Options{Config: file})
	if err != nil {
		t.Fatal(err)
	}
	push := action.Rule{Decision: action.Deny, Prefix: []string{"git", "push"}, Source: action.FromUser}
	place := placeOf(&c, push)
	if place != file+":1" {
		t.Fatalf("place %q", place)
	}
	if got, err := removeRule(&c, push); got != file || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if left, _ := os.ReadFile(file); string(left) != "[[ask]]\nprefix = [\"make\"]\n" {
		t.Errorf("left: %s", left)
	}
	if _, err := removeRule(&c, push); err == nil || !strings.Contains(err.Error(), "no settings file has this rule") {
		t.Errorf("a second time: %v", err)
	}
}
