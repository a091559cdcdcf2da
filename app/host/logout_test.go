package host

import (
	"testing"
	"testing/fstest"
)

func TestEndsAtLogout(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const conf, drops = "etc/systemd/logind.conf", "/systemd/logind.conf.d/"
	for name, tt := range map[string]struct {
		files fstest.MapFS
		want  bool
	}{
		"no systemd":          {fstest.MapFS{}, false},
		"as it is delivered":  {fstest.MapFS{conf: file("[Login]\n#KillUserProcesses=yes\n")}, false},
		"on":                  {fstest.MapFS{conf: file("[Login]\nKillUserProcesses = yes\n")}, true},
		"off":                 {fstest.MapFS{conf: file("[Login]\nKillUserProcesses=no\n")}, false},
		"a drop-in":           {fstest.MapFS{conf: file("KillUserProcesses=no\n"), "usr/lib" + drops + "a.conf": file("KillUserProcesses=1\n")}, true},
		"one in etc replaces": {fstest.MapFS{"usr/lib" + drops + "a.conf": file("KillUserProcesses=yes\n"), "etc" + drops + "a.conf": file("[Login]\n")}, false},
		"the last counts":     {fstest.MapFS{"etc" + drops + "a.conf": file("KillUserProcesses=yes\n"), "run" + drops + "b.conf": file("KillUserProcesses=false\n")}, false},
		"lingers":             {fstest.MapFS{conf: file("KillUserProcesses=yes\n"), "var/lib/systemd/linger/ann": file("")}, false},
	} {
		if got := endsAtLogout(tt.files, "ann"); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
