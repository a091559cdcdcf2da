package pane

import (
	"reflect"
	"strings"
	"testing"
)

func TestSandboxArgs(t *testing.T) {
	for _, s := range []*Sandbox{nil, {}, {Write: []string{"/a b", "--write=x"}, NoNetwork: true}} {
		dir, shell, got, err := parseArgs(append(s.Args(), "--shell=zsh", "/d"))
		if err != nil || dir != "/d" || shell != "zsh" || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v came back as %q, %+v, %v", s, dir, got, err)
		}
	}
	for _, bad := range [][]string{nil, {"a", "b"}, {"--what", "d"}} {
		if _, _, _, err := parseArgs(bad); err == nil {
			t.Errorf("parseArgs(%q) was taken", bad)
		}
	}
}

func TestSandboxExplains(t *testing.T) {
	s := &Sandbox{Write: []string{"/w"}, NoNetwork: true}
	if got := s.Explain("touch: cannot touch '/x': Permission denied"); !strings.Contains(got, "only in /w, and use no network") {
		t.Errorf("Explain = %q", got)
	}
	if s.Explain("no such file") != "" || (*Sandbox)(nil).Explain("Permission denied") != "" {
		t.Error("it explains what it did not do")
	}
}
