package config

import (
	"reflect"
	"strings"
	"testing"

	"buddy/agent/action"
)

func TestRules(t *testing.T) { // a project may tighten, never loosen
	h := newHome(t)
	write(t, h.user, "[[allow]]\nprefix = [\"go\", \"test\"]\n[[allow]]\ntool = \"fetch_url\"\nhost = \"go.dev\"\n[[deny]]\npath = \"~/private/**\"\n")
	write(t, h.project, "[[allow]]\nprefix = [\"rm\"]\n[[ask]]\nprefix = [\"go\", \"test\"]\ntarget = \"local\"\n[[deny]]\nprefix = [\"git\", \"push\"]\n")
	c, _, notices, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Rule{
		{action.Rule{Decision: "allow", Prefix: []string{"go", "test"}, Source: action.FromUser}, h.user + ":1"},
		{action.Rule{Decision: "allow", Tool: "fetch_url", Host: "go.dev", Source: action.FromUser}, h.user + ":3"},
		{action.Rule{Decision: "deny", Path: "~/private/**", Source: action.FromUser}, h.user + ":6"},
		{action.Rule{Decision: "ask", Prefix: []string{"go", "test"}, Target: "local", Source: action.FromProject}, "buddy.toml:3"},
		{action.Rule{Decision: "deny", Prefix: []string{"git", "push"}, Source: action.FromProject}, "buddy.toml:6"},
	}
	if !reflect.DeepEqual(c.Rules, want) {
		t.Errorf("rules %+v\nwant  %+v", c.Rules, want)
	}
	if all := strings.Join(notices, "\n"); !strings.Contains(all, "a project's file may not set them: allow") {
		t.Errorf("notices %q", notices)
	}
}
