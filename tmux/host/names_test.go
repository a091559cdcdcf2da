package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The names of hosts, without patterns and without names that ssh would treat as an option.
func TestSSHNames(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, text := range map[string]string{
		"config":   "Include more/*\nHost web-01 web-02 *.example.com !not\n  HostName 10.0.0.1\nhost=\"db\" -oProxyCommand=x web-01\n",
		"more/one": "HOST one\nInclude config more/one\n", // a circle ends
		"other":    "Host far\n",
	} {
		path := filepath.Join(home, ".ssh", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := SSHNames(""), []string{"one", "web-01", "web-02", "db"}; !slices.Equal(got, want) && !slices.Equal(got, append(want[1:], want[0])) {
		t.Errorf("SSHNames = %q, want %q", got, want)
	}
	if got := SSHNames(filepath.Join(home, ".ssh", "other")); !slices.Equal(got, []string{"far"}) {
		t.Errorf("SSHNames of a file = %q", got)
	}
	if got := SSHNames("none"); len(got) != 0 {
		t.Errorf("SSHNames of no file = %q", got)
	}
}
