package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	h := newHome(t)
	write(t, h.user, `
[targets.web-01]
ssh = "root@10.0.0.1"
ssh_config = "/etc/there"
cwd = "/srv"
doc = "nginx"
production = true
[targets.box]
container = "web"
`)
	c, index, notices, err := Load(Options{})
	if err != nil || len(notices) > 0 {
		t.Fatal(err, notices)
	}
	want := []Target{
		{Name: "web-01", SSH: "root@10.0.0.1", SSHConfig: "/etc/there", Cwd: "/srv", Doc: "nginx", Production: true},
		{Name: "box", Container: "web"},
	}
	if !reflect.DeepEqual(c.Targets, want) {
		t.Errorf("targets %+v\nwant    %+v", c.Targets, want)
	}
	if got := index[Path("targets", "web-01", "ssh")]; got != h.user+":3" {
		t.Errorf("targets.web-01.ssh is at %q", got)
	}
	if _, ok := c.Target("db"); ok {
		t.Error("there is a target that nobody set")
	}
}

func TestTargetErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nowhere", "[targets.a]\ndoc = \"x\"\n", "targets.a: has no address (allowed: one of ssh, container)"},
		{"twice", "[targets.a]\nssh = \"x\"\ncontainer = \"y\"\n", "targets.a: has both ssh and container"},
		{"ssh_config for a container", "[targets.a]\ncontainer = \"x\"\nssh_config = \"/y\"\n", "ssh_config needs ssh"},
		{"this machine", "[targets.local]\nssh = \"x\"\n", "local is this machine"},
		{"a name that looks like another", "[targets.\"a:b\"]\nssh = \"x\"\n", `"a:b" is not a name for a target`},
		{"unknown key", "[targets.a]\nhost = \"x\"\n", "targets.a.host: unknown key"},
	}
	for _, tt := range tests {
		h := newHome(t)
		write(t, h.user, tt.text)
		if _, _, _, err := Load(Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestTargetsOfAProject(t *testing.T) {
	h := newHome(t)
	write(t, h.user, "[targets.web]\nssh = \"mine\"\n")
	write(t, h.project, "[targets.web]\nssh = \"theirs\"\n[targets.other]\nssh = \"theirs\"\n")
	store := NewTrustStore(t.TempDir())
	mine := Target{Name: "web", SSH: "mine"}
	c, _, _, err := Load(Options{Trust: &store})
	if err != nil || !reflect.DeepEqual(c.Targets, []Target{mine}) {
		t.Errorf("not trusted: %v, %+v", err, c.Targets)
	}
	if err := store.Trust(c.Project.Dir, c.Project.Print); err != nil {
		t.Fatal(err)
	}
	c, _, _, err = Load(Options{Trust: &store})
	if err != nil || !reflect.DeepEqual(c.Targets, []Target{mine, {Name: "other", SSH: "theirs"}}) {
		t.Errorf("trusted: %v, %+v", err, c.Targets)
	}
}
