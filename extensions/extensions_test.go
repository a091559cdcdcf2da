package extensions_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/extensions"
	"buddy/extensions/skill"
	"buddy/tools/file"
)

// tree creates files in a new folder and returns it with a workspace. A text "-> X" is a link to X.
func tree(t *testing.T, files map[string]string) (string, *file.Workspace) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ws, err := file.NewWorkspace(dir, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return dir, ws
}

// brief lists the items and problems in dir, one per line.
func brief(dir string, items []extensions.Item, problems []extensions.Problem) string {
	var all []string
	for _, it := range items {
		all = append(all, "/"+it.Name+" "+strings.TrimPrefix(it.File, dir+"/"))
	}
	for _, p := range problems {
		all = append(all, strings.ReplaceAll(p.String(), dir+"/", ""))
	}
	return strings.Join(all, "\n")
}

// TestSkills checks that one folder is one skill however many links lead to it, and that invalid skills are
// reported with the reason.
func TestSkills(t *testing.T) {
	dir, ws := tree(t, map[string]string{
		".claude/skills/a/SKILL.md":       "---\nname: a\n---\nText",
		".claude/skills/b":                "-> a",
		".claude/skills/c/SKILL.md":       "-> /etc/passwd",
		".claude/skills/d/README.md":      "not one",
		".claude/skills/e/SKILL.md":       "",
		".claude/skills/f/SKILL.md":       "---\nname: f\n---\n",
		".claude/skills/g_h/SKILL.md":     "Text",
		".claude/skills/Upper/SKILL.md":   "Text",
		".claude/skills/loop":             "-> loop",
		".claude/skills/big/SKILL.md":     strings.Repeat("a", 10<<20),
		".claude/skills/binary/SKILL.md":  "a\x00",
		".claude/skills/colon/SKILL.md":   "---\nname: colon\ndescription: Use when: x\n---\nText",
		".claude/skills/.hidden/SKILL.md": "Text",
		".claude/skills/file.md":          "Text",
		".claude/skills/small/skill.md":   "Text",
		".buddy/skills/out":               "-> /etc",
		".agents/skills/z/SKILL.md":       "Text",
		".agents/commands/no.md":          "Text",
	})
	fifo := filepath.Join(dir, ".claude/skills/fifo")
	if err := os.Mkdir(fifo, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(fifo, "SKILL.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a pipe must not block
	defer cancel()
	found, err := extensions.Read(ctx, extensions.Skill, extensions.Source{
		Origin: extensions.Project, Files: ws, Dirs: extensions.ProjectDirs([]string{dir}), Inside: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := brief(dir, found.Items, found.Problems)
	for _, want := range []string{
		"/a .claude/skills/a/SKILL.md", "/z .agents/skills/z/SKILL.md", "/upper .claude/skills/Upper/SKILL.md", "/colon .claude/skills/colon/SKILL.md",
		"c/SKILL.md: left out: the link points outside", "e/SKILL.md: left out: the file has no text", "f/SKILL.md: left out: the file has no text",
		`g_h/SKILL.md: left out: the name "g_h" is not valid`, "; g-h would be valid", "small/skill.md: left out: the file must be named SKILL.md", "big/SKILL.md: left out: has 10485760 bytes (allowed: 262144)",
		"binary/SKILL.md: left out: the file is not UTF-8 text", "colon/SKILL.md:3: the front matter is not valid YAML", "fifo/SKILL.md: left out: ", "loop/SKILL.md: left out: ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(found.Items) != 4 || len(found.Problems) != 10 {
		t.Errorf("%d items, %d problems", len(found.Items), len(found.Problems))
	}
	if t.Failed() {
		t.Log(got)
	}
	commands, err := extensions.Read(ctx, extensions.Command, extensions.Source{Origin: extensions.Project, Files: ws, Dirs: extensions.ProjectDirs([]string{dir}), Inside: dir})
	if err != nil || len(commands.Items) != 0 {
		t.Errorf("commands of .agents: %v, %v", commands.Items, err)
	}
}

// TestUnreadable checks that an unreadable folder and a file that another user could change are reported.
func TestUnreadable(t *testing.T) {
	dir, ws := tree(t, map[string]string{"skills/open/SKILL.md": "Text", "commands/a.md": "Text"})
	if err := os.Chmod(filepath.Join(dir, "skills/open/SKILL.md"), 0o666); err != nil {
		t.Fatal(err)
	}
	source := extensions.Source{Origin: extensions.Person, Files: ws, Dirs: []string{dir}}
	found, err := extensions.Read(t.Context(), extensions.Skill, source)
	if err != nil || len(found.Items) != 0 || !strings.Contains(brief(dir, nil, found.Problems), "everybody may write to it") {
		t.Errorf("%+v, %v", found, err)
	}
	if os.Getuid() == 0 {
		return // root can read everything
	}
	if err := os.Chmod(filepath.Join(dir, "commands"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "commands"), 0o700) }) // so that the folder can be removed
	found, err = extensions.Read(t.Context(), extensions.Command, source)
	if err != nil || !strings.Contains(brief(dir, nil, found.Problems), "commands: left out: permission denied") {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestCommands checks that folders become parts of names, for all forms of files.
func TestCommands(t *testing.T) {
	dir, ws := tree(t, map[string]string{
		".claude/commands/fix.md":         "Fix",
		".claude/commands/git/pr.md":      "\ufeff---\r\ndescription: d\r\n---\r\nText\r\n",
		".claude/commands/git/again":      "-> ..",
		".claude/commands/only-front.md":  "---\ndescription: d\n---\n",
		".claude/commands/notes.txt":      "no",
		".claude/commands/a/b/c/d/e/f.md": "too deep",
	})
	found, err := extensions.Read(t.Context(), extensions.Command, extensions.Source{
		Origin: extensions.Project, Files: ws, Dirs: extensions.ProjectDirs([]string{dir}), Inside: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "/fix .claude/commands/fix.md\n/git:pr .claude/commands/git/pr.md\n" +
		".claude/commands/a/b/c/d/e: left out: buddy reads folders only 4 levels deep\n.claude/commands/only-front.md: left out: the file has no text"
	if got := brief(dir, found.Items, found.Problems); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, it := range found.Items {
		if strings.Contains(it.Body, "\r") || strings.Contains(it.Body, "\ufeff") {
			t.Errorf("%q", it.Body)
		}
	}
}

// TestResolve checks that a person's own extension keeps its name, whatever a project contains.
func TestResolve(t *testing.T) {
	item := func(o extensions.Origin, k extensions.Kind, name, text string) extensions.Item {
		return extensions.Item{Origin: o, Kind: k, Name: name, File: string(o) + "/" + name + "/" + text, Sum: text}
	}
	items, problems := extensions.Resolve([]extensions.Item{
		item(extensions.BuiltIn, extensions.Skill, "commit", "0"),
		item(extensions.Project, extensions.Skill, "commit", "near"),
		item(extensions.Project, extensions.Skill, "commit", "far"),
		item(extensions.Project, extensions.Skill, "help", "1"),
		item(extensions.Person, extensions.Skill, "commit", "mine"),
		item(extensions.Person, extensions.Command, "commit", "mine"),
		item(extensions.Project, extensions.Skill, "same", "2"),
	}, func(name string) bool { return name == "help" })
	const want = "/commit person/commit/mine\n/project:commit project/commit/near\n/project:help project/help/1\n/same project/same/2\n/built-in:commit built-in/commit/0\n" +
		"person/commit/mine: left out: it is the same as person/commit/mine\n" +
		"project/commit/near: /commit is already the name of person/commit/mine, so this one is called /project:commit\n" +
		"project/commit/far: left out: the names /commit and /project:commit are taken, the second by project/commit/near\n" +
		"project/help/1: /help is one of buddy's commands, so this one is called /project:help\n" +
		"built-in/commit/0: /commit is already the name of person/commit/mine, so this one is called /built-in:commit"
	if got := brief("nowhere", items, problems); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a-b": true, "0": true, strings.Repeat("a", 64): true,
		"": false, "-a": false, "a-": false, "a--b": false, "a_b": false, "A": false, "a b": false, "ä": false, strings.Repeat("a", 65): false,
	} {
		if extensions.ValidName(name) != want {
			t.Errorf("%q is not %v", name, want)
		}
	}
}

// TestBuiltIn checks that the built-in extensions are valid, have descriptions and are sorted by name.
func TestBuiltIn(t *testing.T) {
	var names []string
	for _, kind := range []extensions.Kind{extensions.Skill, extensions.Style, extensions.Command} {
		found, err := extensions.Read(t.Context(), kind, extensions.BuiltInSource())
		if err != nil || len(found.Problems) > 0 {
			t.Fatal(err, found.Problems)
		}
		for _, it := range found.Items {
			names = append(names, it.Name)
			if s := skill.New(it); s.Description == "" || s.Listed || len(s.Body) > skill.MaxBody || len(s.Commands()) > 0 {
				t.Errorf("%s: %+v", it.Name, s)
			}
		}
	}
	if want := []string{"commit", "debug-service", "explain-repo", "review", "concise", "explain"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

// TestUnlisted checks that the file for Codex next to a skill keeps the skill out of the models' list, and has no
// other effect. If that file is invalid, a problem says so and the skill is not listed.
func TestUnlisted(t *testing.T) {
	dir, ws := tree(t, map[string]string{
		".agents/skills/off/SKILL.md":              "---\ndescription: d\n---\nText",
		".agents/skills/off/agents/openai.yaml":    "\ufeffinterface: {display_name: Off}\npolicy:\n  allow_implicit_invocation: false\n",
		".agents/skills/on/SKILL.md":               "---\ndescription: d\n---\nText",
		".agents/skills/on/agents/openai.yaml":     "policy: {allow_implicit_invocation: true}\nallow_implicit_invocation: false\n",
		".agents/skills/odd/SKILL.md":              "---\ndescription: d\n---\nText",
		".agents/skills/odd/agents/openai.yaml":    "policy: [\n",
		".agents/skills/out/SKILL.md":              "---\ndescription: d\n---\nText",
		".agents/skills/out/agents/openai.yaml":    "-> /etc/passwd",
		".agents/skills/alias/SKILL.md":            "---\ndescription: d\n---\nText",
		".agents/skills/alias/agents/openai.yaml":  "policy: &a {allow_implicit_invocation: false}\nother: *a\n",
		".agents/skills/scalar/SKILL.md":           "---\ndescription: d\n---\nText",
		".agents/skills/scalar/agents/openai.yaml": "policy: no\n",
	})
	found, err := extensions.Read(t.Context(), extensions.Skill, extensions.Source{
		Origin: extensions.Project, Files: ws, Dirs: extensions.ProjectDirs([]string{dir}), Inside: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range found.Items {
		if s := skill.New(it); s.Listed != (it.Name == "on" || it.Name == "scalar") {
			t.Errorf("%s: listed %v", it.Name, s.Listed)
		}
	}
	got := brief(dir, found.Items, found.Problems)
	for _, want := range []string{"odd/agents/openai.yaml: left out: line 1: the file is not valid YAML", "out/agents/openai.yaml: left out: the link points outside", "alias/agents/openai.yaml: left out: line 2: the file has a YAML alias"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if len(found.Items) != 6 || len(found.Problems) != 3 {
		t.Errorf("%d items, %d problems:\n%s", len(found.Items), len(found.Problems), got)
	}
}

// Agents of Codex are reported, one problem per folder, and not used.
func TestAgentsInTOML(t *testing.T) {
	t.Parallel()
	dir, ws := tree(t, map[string]string{
		".codex/agents/a.toml": "name = \"a\"\nsandbox_mode = \"read-only\"\n", ".codex/agents/b.toml": "", ".codex/agents/notes.md": "---\ndescription: d\n---\nText",
		".claude/agents/c.toml": "", ".claude/agents/d.md": "---\ndescription: d\n---\nText", ".codex/commands/e.md": "Text", ".codex/skills/f/SKILL.md": "Text",
	})
	source := extensions.Source{Origin: extensions.Project, Files: ws, Dirs: extensions.ProjectDirs([]string{dir}), Inside: dir}
	var got []string
	for _, kind := range []extensions.Kind{extensions.Agent, extensions.Command, extensions.Skill} {
		found, err := extensions.Read(t.Context(), kind, source)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(brief(dir, found.Items, found.Problems)))
	}
	want := ".claude/agents: left out: buddy doesn't read agents in TOML: c.toml\n.codex/agents: left out: buddy doesn't read agents in TOML: a.toml, b.toml"
	if !strings.Contains(got[0], want) || strings.Contains(got[0], "notes") || got[1]+got[2] != "" {
		t.Errorf("%q", got)
	}
}

// TestReviewPointsStandOnce checks that the review skill and the review agent share one file of review points.
func TestReviewPointsStandOnce(t *testing.T) {
	const sign = "Look for, in this order:"
	files := extensions.BuiltInSource().Files
	_, points, err := files.Peek(t.Context(), "buddy:/review_points.md", 1<<16)
	if err != nil || !strings.Contains(string(points), sign) {
		t.Fatalf("%q, %v", points, err)
	}
	for _, name := range []string{"reviewer.md", "skills/review/SKILL.md"} {
		written, err := os.ReadFile("builtin/" + name)
		if err != nil || strings.Contains(string(written), sign) {
			t.Errorf("%s has points of its own: %v", name, err)
		}
		if _, read, err := files.Peek(t.Context(), "buddy:/"+name, 1<<16); err != nil || !strings.Contains(string(read), strings.TrimSpace(string(points))) {
			t.Errorf("%s is read without the points: %q, %v", name, read, err)
		}
	}
}
