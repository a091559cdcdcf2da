package prompt

import (
	"strings"
	"testing"
)

func TestSystem(t *testing.T) {
	f := Facts{OS: "linux", Shell: "bash", Cwd: "/w", Target: "local", Tools: true}
	system, local := System(f), Here(f)
	f.Target, f.Extra, f.Also = "root@web-02 (ssh)", "Answer in German.", []string{"/lib", "/etc/nginx"}
	remote := Here(f)
	for _, tt := range []struct{ text, want string }{
		{local, "run on this machine (linux, bash) in /w"},
		{system, "they run side by side"},
		{remote, "run on root@web-02 (ssh) (linux, bash)"},
		{remote, "files that your tools read, search and change are there too"},
		{System(f), "Answer in German."},
		{remote, "These folders also belong to the work: /lib, /etc/nginx."},
	} {
		if !strings.Contains(tt.text, tt.want) {
			t.Errorf("%q is not in\n%s", tt.want, tt.text)
		}
	}
	if strings.Contains(local, "full_output in a result names a file on the person's machine") {
		t.Error("speaks of another machine though there is none")
	}
	if strings.Contains(local, "as well") {
		t.Error("speaks of more folders though there are none")
	}
	if strings.Contains(system, "operator") {
		t.Error("speaks of operator instructions though there are none")
	}
	if again := Here(f); again != remote {
		t.Error("the same facts give another text")
	}
	if n := len(system) + len(local); n > 2000 {
		t.Errorf("%d bytes, want at most 2000", n)
	}
	f = Facts{OS: "darwin", Shell: "zsh", Cwd: "/elsewhere", Also: []string{"/lib"}, Target: "web-02", Targets: []Target{{Name: "web-02"}}, Tools: true}
	if there := System(f); there != system || len(system) < 1500 {
		t.Errorf("the system prompt is not the same everywhere: %d bytes\n%s", len(system), there)
	}
}

func TestTargets(t *testing.T) {
	f := Facts{OS: "linux", Shell: "bash", Cwd: "/w", Target: "local", Tools: true}
	one := Here(f)
	f.Targets = []Target{{Name: "local", Doc: "the person's machine"}, {Name: "web-01"}}
	several := Here(f)
	if want := "take `target`, one of:\n- local: the person's machine\n- web-01\nWithout it they work on local,"; !strings.Contains(several, want) {
		t.Errorf("%q is not in\n%s", want, several)
	}
	if strings.Contains(one, "`target") {
		t.Error("speaks of targets though there is one only")
	}
}

func TestNoTools(t *testing.T) {
	if got := System(Facts{Target: "local"}); !strings.Contains(got, "no tools in this session") {
		t.Errorf("says nothing of having no tools:\n%s", got)
	}
}
