package fence

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buddy/texts"
)

// If a command reaches the network, Go uses modules from the user's cache, then from the user's GOPROXY.
func TestGoDownloadsFromWhereThePersonDoes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sdk/bin/go": "", "sdk/go.env": "# defaults\nGOPROXY=https://default.invalid,direct\nGOSUMDB=off\n",
		"root/go.env": "GOPROXY=https://root.invalid\n", "home/.config/go/env": "", "other/.config/go/env": "GOPROXY=https://written.invalid\n",
		"xdg/go/env": "GOFLAGS=-v\nGOPROXY=https://xdg.invalid\n", "env": "GOPROXY=https://file.invalid\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../sdk/bin/go", dir+"/bin/go"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, env, want string }{
		{"the environment", "HOME=DIR/other PATH=DIR/bin GOPROXY=https://env.invalid", "https://env.invalid"},
		{"go env -w", "HOME=DIR/other PATH=DIR/bin", "https://written.invalid"},
		{"go env -w elsewhere", "HOME=DIR/other XDG_CONFIG_HOME=DIR/xdg PATH=DIR/bin", "https://xdg.invalid"},
		{"a named file", "HOME=DIR/other GOENV=DIR/env PATH=DIR/bin", "https://file.invalid"},
		{"no file", "HOME=DIR/other GOENV=off PATH=DIR/bin", "https://default.invalid,direct"},
		{"the defaults", "HOME=DIR/home PATH=/nowhere:DIR/bin", "https://default.invalid,direct"},
		{"the defaults of GOROOT", "HOME=DIR/home GOROOT=DIR/root PATH=DIR/bin", "https://root.invalid"},
		{"no Go", "HOME=DIR/home PATH=/nowhere", ""},
	} {
		env := strings.Fields(strings.ReplaceAll(tt.env, "DIR", dir))
		c := Config{Settings: Settings{Network: true, Cache: "/cache"}, Env: env}
		want := "file://" + c.modules() + "/cache/download," + tt.want
		if tt.want == "" {
			want = ""
		}
		if got := texts.Lookup(c.caches())("GOPROXY"); got != want {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
		c.Network = false
		if got := texts.Lookup(c.caches())("GOPROXY"); got != "off" {
			t.Errorf("%s, without a network: %q", tt.name, got)
		}
	}
}

// If a person may be asked about hosts, npm connects, but never for its own updates.
func TestNpmConnectsWhereAPersonIsAsked(t *testing.T) {
	for asks, want := range map[bool]string{true: "", false: "true"} {
		all := texts.Lookup(Config{Settings: Settings{Asks: asks}}.caches())
		if all("npm_config_offline") != want || all("CARGO_NET_OFFLINE") != "true" || asks && all("npm_config_update_notifier") != "false" {
			t.Errorf("asks %v: offline %q", asks, all("npm_config_offline"))
		}
	}
}

// Python's compiled files stay out of the workspace, where they would be changed files that run later.
func TestPythonCompilesIntoTheCaches(t *testing.T) {
	c := Config{Settings: Settings{Cache: "/cache"}}
	if all := c.caches(); !slices.Contains(all, "PYTHONPYCACHEPREFIX=/cache/pycache") {
		t.Errorf("%q", all)
	}
}
