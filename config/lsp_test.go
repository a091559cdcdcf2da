package config

import (
	"strings"
	"testing"
)

func TestLanguageServers(t *testing.T) {
	h := newHome(t)
	write(t, h.user, `[lsp.zls]
command = ["zls", "--log"]
extensions = [".zig=zig", ".zon=zig"]
roots = ["build.zig"]
settings = '{"zls": {"warn": true}}'
init = '{"a": 1}'
[lsp.gopls]
enabled = false
`)
	c, index, _ := load(t, Options{})
	zls, ok := c.LanguageServer("zls")
	if !ok || strings.Join(zls.Command, " ") != "zls --log" || strings.Join(zls.Languages, " ") != ".zig=zig .zon=zig" ||
		strings.Join(zls.Roots, " ") != "build.zig" || zls.Settings != `{"zls": {"warn": true}}` || zls.Init != `{"a": 1}` || !zls.Enabled {
		t.Errorf("zls = %+v", zls)
	}
	if gopls, ok := c.LanguageServer("gopls"); !ok || gopls.Enabled {
		t.Errorf("gopls = %+v", gopls)
	}
	if got := index[Path("lsp", "gopls", "enabled")]; got != h.user+":8" {
		t.Errorf("lsp.gopls.enabled is at %q", got)
	}
	other := c
	other.LSP = c.LSP[:1]
	if got := strings.Join(Changed(&c, &other), " "); got != "lsp.gopls" {
		t.Errorf("without gopls changed = %q", got)
	}
	if got := strings.Join(Changed(&c, &c), " "); got != "" {
		t.Errorf("without a change changed = %q", got)
	}
}

func TestWrongLanguageServers(t *testing.T) {
	h := newHome(t)
	for text, want := range map[string]string{
		"[lsp.x]\nextensions = [\"go\"]":    `extensions: has "go", which is not .ENDING=LANGUAGE`,
		"[lsp.x]\nextensions = [\".go\"]":   `extensions: has ".go", which is not .ENDING=LANGUAGE`,
		"[lsp.x]\nextensions = [\"a.b=c\"]": `which is not .ENDING=LANGUAGE`,
		"[lsp.x]\nroots = [\"../go.mod\"]":  `roots: has "../go.mod", which is not the name of a file`,
		"[lsp.x]\nsettings = \"yes\"":       `settings: is not an object of JSON`,
		"[lsp.x]\ninit = \"[]\"":            `init: is not an object of JSON`,
		"[lsp.\"../x\"]\ncommand = [\"x\"]": `"../x" is not a name for a language server`,
		"[lsp.x]\nport = 3":                 `unknown key`,
	} {
		write(t, h.user, text+"\n")
		if _, _, _, err := Load(Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n gave %v, want %q", text, err, want)
		}
	}
}
