package compose

import (
	"slices"
	"testing"

	"buddy/app/apptest"
	"buddy/app/slash"
	"buddy/extensions/style"
)

// --config replaces the settings files of the project, but not its plugins and styles.
func TestPluginsAndStylesAreFoundWithConfigFlag(t *testing.T) {
	const plugin = ".buddy/plugins/tidy/"
	apptest.Project(t, map[string]string{
		plugin + ".claude-plugin/plugin.json": `{"name": "tidy"}`,
		plugin + "hooks/hooks.json":           `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,
		plugin + ".mcp.json":                  `{"mcpServers": {"notes": {"command": "cat"}}}`,
		".buddy/output-styles/pir.md":         "Talk like a pirate.\n",
		"mine.toml":                           "",
	})
	c, _, _, err := LoadConfig(&Options{Config: "mine.toml"})
	if err != nil {
		t.Fatal(err)
	}
	s := Setup{Config: c, Target: slash.ThisMachine}
	items, err := s.Project().Items()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Project().SetTrust(true, items); err != nil {
		t.Fatal(err)
	}
	if set := s.Project().Hooks(); len(set.Handlers) != 1 || len(set.Failed) > 0 {
		t.Errorf("hooks %+v", set)
	}
	if servers, err := s.Project().Servers(); err != nil || len(servers) != 1 || servers[0].Problem != "" {
		t.Errorf("servers %+v, %v", servers, err)
	}
	all, _, err := s.Styles()
	if err != nil || !slices.ContainsFunc(all, func(st style.Style) bool { return st.Name == "pir" }) {
		t.Errorf("%d styles, none of the project: %v", len(all), err)
	}
}
