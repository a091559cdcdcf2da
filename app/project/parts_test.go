package project

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/app/apptest"
	"buddy/config"
)

const twoServers = `{"mcpServers": {
	"files": {"command": "sh", "args": ["./server.sh", "a b"], "env": {"CONF": "conf.json"}},
	"web": {"type": "http", "url": "https://example.com/mcp"}
}}`

const threeHooks = `{"hooks": {
	"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh hooks/guard.sh"}, {"type": "command", "command": "echo", "args": ["a b"]}]}],
	"Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/hooks/stop.py", "timeout": 12345678901234567890}]}],
	"WorktreeCreate": [{"hooks": [{"type": "command", "command": "x"}]}],
	"SessionEnd": [{"hooks": [{"type": "prompt", "prompt": "x"}, "none"]}]
}}`

func TestPartsOfAProject(t *testing.T) {
	dir := apptest.Project(t, map[string]string{
		".mcp.json": twoServers, ".buddy/hooks.json": "\ufeff" + threeHooks, "server.sh": "", "conf.json": "", "hooks/guard.sh": "", "hooks/stop.py": "",
		"sub/.mcp.json": `{"mcpServers": {"files": {"command": "../server.sh"}}}`,
	})
	found := Parts(filepath.Join(dir, "sub"), config.Config{})
	var got []string
	for _, p := range found.Parts {
		rel, err := filepath.Rel(dir, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join([]string{rel, p.String(), p.Runs, p.When, strings.Join(p.Files, " ")}, " | "))
	}
	want := []string{
		"sub | mcp:files | ../server.sh | starts with every session here | ../server.sh",
		". | mcp:files | sh ./server.sh 'a b' | starts with every session here | conf.json server.sh",
		". | mcp:web | https://example.com/mcp | is contacted for its tools in every session here | ",
		`. | hook:PreToolUse:Bash | sh hooks/guard.sh | runs before a tool is used, for "Bash" | hooks/guard.sh`,
		`. | hook:PreToolUse:Bash#2 | echo 'a b' | runs before a tool is used, for "Bash" | `,
		`. | hook:Stop | "$CLAUDE_PROJECT_DIR"/hooks/stop.py | runs when the model is done | hooks/stop.py`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if def := found.Parts[5].Definition; !strings.Contains(def, `"timeout": 12345678901234567890`) || !json.Valid([]byte(def)) {
		t.Errorf("the definition is %s", def)
	}
	reasons := fmt.Sprint(found.Problems)
	for _, why := range []string{`a hook of type "prompt" is not run by buddy`, `hooks for "WorktreeCreate" are not run by buddy`, "can't have type string"} {
		if !strings.Contains(reasons, why) {
			t.Errorf("problems %s, want %q", reasons, why)
		}
	}
}

// The same definition in another order and with other spaces is equal; every value counts.
func TestDefinitionsAreCanonical(t *testing.T) {
	definition := func(text string) string {
		dir := apptest.Project(t, map[string]string{".mcp.json": `{"mcpServers": {"x": ` + text + `}}`})
		found := Parts(dir, config.Config{})
		if len(found.Parts) != 1 {
			t.Fatalf("%s: %+v", text, found)
		}
		return found.Parts[0].Definition
	}
	one := definition(`{"command": "a", "args": ["b"], "x": 1}`)
	if two := definition("{\n\"x\":1,\"args\":[\"b\"],\"command\":\"a\"}"); one != two {
		t.Errorf("%s and %s differ", one, two)
	}
	for _, other := range []string{`{"command": "a", "args": ["b"], "x": 2}`, `{"command": "a", "args": ["b"], "x": 1.0}`, `{"command": "a", "args": ["b"], "x": 1, "Command": "c"}`, `{"command": "a", "args": ["b", ""], "x": 1}`} {
		if two := definition(other); one == two {
			t.Errorf("%s has the definition %s", other, two)
		}
	}
}

// Files that can't be read, and links that lead elsewhere, define nothing and are reported.
func TestPartsFromBadFiles(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"is not a regular file": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"leads out of the project": func(path string) error {
			secret := filepath.Join(t.TempDir(), "servers.json")
			if err := os.WriteFile(secret, []byte(twoServers), 0o600); err != nil {
				return err
			}
			return os.Symlink(secret, path)
		},
		"is over 1024 KiB":  func(path string) error { return os.WriteFile(path, make([]byte, 2<<20), 0o600) },
		"is a directory":    func(path string) error { return os.Mkdir(path, 0o700) },
		"invalid character": func(path string) error { return os.WriteFile(path, []byte(`{"mcpServers": `+"\x00"), 0o600) },
		"can't have type":   func(path string) error { return os.WriteFile(path, []byte(`{"mcpServers": []}`), 0o600) },
		`server "x": "args" can't have type string`: func(path string) error {
			return os.WriteFile(path, []byte(`{"mcpServers": {"x": {"args": "y"}}}`), 0o600)
		},
		"exceeded max depth": func(path string) error {
			return os.WriteFile(path, []byte(`{"mcpServers": {"x": `+strings.Repeat("[", 20000)), 0o600)
		},
		"unexpected end of JSON in": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		dir := apptest.Project(t, nil)
		if err := make(filepath.Join(dir, ".mcp.json")); err != nil {
			t.Fatal(err)
		}
		found := Parts(dir, config.Config{})
		if len(found.Parts) > 0 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Reason, name) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Trust applies to the listed form; a changed script turns off only the parts that name it, and the diff shows the
// change.
func TestTrustOfParts(t *testing.T) {
	dir := apptest.Project(t, map[string]string{".mcp.json": twoServers, ".buddy/hooks.json": threeHooks, "server.sh": "", "hooks/guard.sh": "fine\n"})
	s := new(Source)
	state := func(title string) Item {
		t.Helper()
		items, err := s.Items()
		i := slices.IndexFunc(items, func(i Item) bool { return i.Title() == title })
		if err != nil || i < 0 {
			t.Fatalf("%s is not among %+v (%v)", title, items, err)
		}
		return items[i]
	}
	if text := noticesOf(s); !strings.HasPrefix(text, "Needs your trust before it runs: mcp files, mcp web, hook PreToolUse:Bash, hook PreToolUse:Bash#2, hook Stop; see /trust, or run buddy trust") {
		t.Error(text)
	}
	guard := state("hook PreToolUse:Bash")
	if err := s.SetTrust(true, []Item{guard, state("mcp web")}); err != nil {
		t.Fatal(err)
	}
	if state("hook PreToolUse:Bash").State != Trusted || state("mcp web").State != Trusted || state("mcp files").State != NotTrusted {
		t.Error("not what was trusted is trusted")
	}
	if err := os.WriteFile(filepath.Join(dir, "hooks/guard.sh"), []byte("evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := state("hook PreToolUse:Bash")
	diff, err := new(Source).PartDiff(changed)
	if changed.State != Changed || state("mcp web").State != Trusted || err != nil || !strings.Contains(diff, "-fine\n+evil\n") {
		t.Errorf("%+v, %s, %v", changed, diff, err)
	}
	if text := noticesOf(s); !strings.Contains(text, "Off, because it changed since you trusted it: hook PreToolUse:Bash;") {
		t.Error(text)
	}
	if err := s.SetTrust(true, []Item{guard}); err == nil || !strings.Contains(err.Error(), "changed while you looked at it") {
		t.Errorf("the form of before is trusted: %v", err)
	}
	gone := Item{Kind: "hook", Name: "Gone", Dir: dir}
	if err := s.SetTrust(true, []Item{gone}); err == nil || !strings.Contains(err.Error(), "hook Gone is no longer there") {
		t.Error(err)
	}
	if err := s.SetTrust(false, []Item{state("mcp web")}); err != nil || state("mcp web").State != NotTrusted {
		t.Error(err)
	}
	// On another machine the project's programs do not run, so there is nothing to trust.
	far := &Source{Away: "web-02"}
	if items, err := far.Items(); len(items) > 0 || err != nil || noticesOf(far) != "" {
		t.Error(items, err)
	}
}

// The settings are listed with the parts, and are trusted separately.
func TestSettingsAmongTheParts(t *testing.T) {
	dir := apptest.Project(t, map[string]string{".mcp.json": twoServers})
	print, err := config.Fingerprint(dir)
	s := new(Source)
	s.Config.Project = config.Project{Dir: dir, Print: print, Ignored: []string{"agent.model"}}
	items, listErr := s.Items()
	if err != nil || listErr != nil || len(items) != 3 || items[0].Title() != "settings buddy.toml" || items[0].State != NotTrusted || items[0].Runs != "agent.model" {
		t.Fatalf("%+v, %v, %v", items, err, listErr)
	}
	if err := s.SetTrust(true, items[:1]); err != nil {
		t.Fatal(err)
	}
	if trusted, _, err := TrustStore().Trusted(dir, print); !trusted || err != nil {
		t.Error(err)
	}
	s.Config.Project.Trusted, s.Config.Project.Ignored = true, nil // as in the session that starts with them
	if err := s.SetTrust(true, items[1:2]); err != nil {
		t.Fatal(err)
	}
	if items, err = s.Items(); err != nil || items[0].State != Trusted || items[1].State != Trusted {
		t.Fatalf("%+v, %v", items, err)
	}
	if err := s.SetTrust(false, items[:1]); err != nil {
		t.Fatal(err)
	}
	if items, err = s.Items(); err != nil || items[0].State != NotTrusted || items[1].State != Trusted {
		t.Errorf("%+v, %v", items, err)
	}
}

// Settings without parts are trusted without the list; once trusted, the list is where to end the trust.
func TestTrustedSettingsAloneAreListed(t *testing.T) {
	dir := apptest.Project(t, map[string]string{"buddy.toml": "[agent]\nmodel = \"x\"\n"})
	print, err := config.Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := new(Source)
	s.Config.Project = config.Project{Dir: dir, Print: print, Ignored: []string{"agent.model"}}
	if items, err := s.Items(); len(items) != 1 || err != nil {
		t.Errorf("%+v, %v", items, err)
	}
	if err := TrustStore().Trust(dir, print); err != nil {
		t.Fatal(err)
	}
	s.Config.Project.Trusted, s.Config.Project.Ignored = true, nil
	items, err := s.Items()
	if len(items) != 1 || err != nil || items[0].State != Trusted {
		t.Fatalf("%+v, %v", items, err)
	}
	if err := s.SetTrust(false, items); err != nil {
		t.Fatal(err)
	}
	if all, err := TrustStore().List(); len(all) > 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// A hook of a file named in the settings is listed, trusted and untrusted like all others.
func TestTrustInHooksOfOtherFilesEnds(t *testing.T) {
	dir := apptest.Project(t, map[string]string{".claude/settings.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`})
	s := new(Source)
	s.Config.Hooks.Enabled, s.Config.Hooks.Also = true, []string{".claude/settings.json"}
	s.Config.Project.Dir = dir
	items, err := s.Items()
	if len(items) != 1 || err != nil || items[0].Title() != "hook Stop@.claude/settings.json" {
		t.Fatalf("%+v, %v", items, err)
	}
	for _, on := range []bool{true, false} {
		if err := s.SetTrust(on, items); err != nil {
			t.Fatal(err)
		}
		if items, err = s.Items(); err != nil || (items[0].State == Trusted) != on {
			t.Errorf("trust %v: %+v, %v", on, items, err)
		}
	}
}

// 200 hooks and a command of a megabyte are listed quickly; the long one can't be trusted.
func TestManyAndHugeParts(t *testing.T) {
	var hooks []string
	for i := range 200 {
		hooks = append(hooks, fmt.Sprintf(`{"type": "command", "command": "sh hooks/%d.sh"}`, i))
	}
	files := map[string]string{
		".buddy/hooks.json": `{"hooks": {"Stop": [{"hooks": [` + strings.Join(hooks, ",") + `]}]}}`,
		".mcp.json":         `{"mcpServers": {"huge": {"command": "` + strings.Repeat("x ", 450<<10) + `"}}}`,
	}
	for i := range 200 {
		files[fmt.Sprintf("hooks/%d.sh", i)] = strings.Repeat("x", 10<<10)
	}
	apptest.Project(t, files)
	s := new(Source)
	began := time.Now()
	items, err := s.Items()
	if took := time.Since(began); err != nil || len(items) != 201 || took > 10*time.Second {
		t.Fatalf("%d items after %v (%v)", len(items), took, err)
	}
	huge := items[0]
	if huge.State != Untrustable || !strings.Contains(strings.Join(huge.Lines, "\n"), "too long for a person to check") || len(strings.Join(huge.Lines, "\n")) > 5000 {
		t.Errorf("%.500v", huge)
	}
	if err := s.SetTrust(true, slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !i.Waits() })); err != nil {
		t.Fatal(err)
	}
	if items, err = s.Items(); err != nil || slices.ContainsFunc(items, Item.Waits) {
		t.Errorf("%d still wait (%v)", len(slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !i.Waits() })), err)
	}
	if text := noticesOf(s); !strings.Contains(text, "mcp huge") || len(text) > 1000 {
		t.Error(text)
	}
}

// noticesOf returns the notices about a project's parts, one per line.
func noticesOf(s *Source) string {
	var lines []string
	for _, e := range s.Notices() {
		switch p := e.(type) {
		case event.Notice:
			lines = append(lines, p.Text)
		case event.Warning:
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}
