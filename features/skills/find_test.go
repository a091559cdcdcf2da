package skills

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/policy"
	"buddy/app/apptest"
	"buddy/app/project"
	"buddy/app/slash"
	"buddy/config"
	"buddy/extensions/skill"
	"buddy/tmux/host/hosttest"
	"buddy/tools/file"
)

// projectOf makes files below the working directory of a test, and below a temporary home for "~/", and returns the
// folder.
func projectOf(t *testing.T, files map[string]string) string {
	t.Helper()
	home := apptest.Home(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, ".local/state"))
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	dir, err := config.ResolveDir(".")
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, dir, home, files)
	return dir
}

func writeAll(t *testing.T, dir, home string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			at = filepath.Join(home, rest)
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// found reads the skills of a session.
func found(t *testing.T, there *file.Workspace, local bool) (Set, map[string]skill.Skill) {
	t.Helper()
	set, err := Find(t.Context(), project.NewExtensions(there, local))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]skill.Skill)
	for _, s := range set.Skills {
		all[s.Name] = s
	}
	return set, all
}

func here(t *testing.T, dir string) *file.Workspace {
	t.Helper()
	ws, err := file.NewWorkspace(dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// partsOf returns the parts of a folder that can be trusted.
func partsOf(t *testing.T, dir string, want int) (parts []config.Part) {
	t.Helper()
	found := project.Parts(dir, config.Config{})
	for _, p := range found.Parts {
		if p.Dir != dir || p.Runs == "" || p.When == "" || p.File == "" {
			t.Errorf("%+v", p)
		}
		parts = append(parts, p.Part)
	}
	if len(parts) != want || len(found.Problems) != 0 {
		t.Fatalf("%+v", found)
	}
	return parts
}

// TestWhoseSkillItIs: typed names mean the person's skills first; those of a project and built-in ones stay reachable,
// and built-in commands keep their names.
func TestWhoseSkillItIs(t *testing.T) {
	dir := projectOf(t, map[string]string{
		"~/.claude/skills/commit/SKILL.md":     "mine",
		"~/.config/buddy/commands/fix.md":      "my fix",
		".claude/skills/commit/SKILL.md":       "theirs",
		".claude/commands/fix.md":              "their fix",
		".claude/commands/help.md":             "their help",
		".claude/commands/exit.md":             "their exit, which is another name of quit",
		".agents/skills/commit/SKILL.md":       "theirs",
		".claude/skills/only-theirs/SKILL.md":  "only theirs",
		"~/.agents/skills/from-other/SKILL.md": "from another agent",
	})
	set, all := found(t, here(t, dir), true)
	for name, want := range map[string]string{
		"commit": "mine", "project:commit": "theirs", "fix": "my fix", "project:fix": "their fix", "project:help": "their help",
		"project:exit": "their exit, which is another name of quit", "only-theirs": "only theirs", "from-other": "from another agent",
	} {
		if all[name].Body != want {
			t.Errorf("/%s is %q, want %q", name, all[name].Body, want)
		}
	}
	if _, ok := all["help"]; ok {
		t.Error("/help is not buddy's any more")
	}
	for _, c := range slash.Commands {
		if _, ok := all[c.Name]; ok && c.Name != "review" {
			t.Errorf("/%s is shadowed", c.Name)
		}
	}
	if all["built-in:commit"].Body == "" || all["review"].Body == "" {
		t.Error("what is built in is not reachable")
	}
	var problems []string
	for _, p := range set.Problems {
		problems = append(problems, p.String())
	}
	for _, want := range []string{"/commit is ", "/help is one of buddy's commands, so this one is called /project:help", "left out: it is the same as"} {
		if !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%q is not said in %q", want, problems)
		}
	}
}

// TestTrustOfSkills: a project's skill is trusted while it and its scripts are unchanged since the person trusted them;
// a person's own skill always is.
func TestTrustOfSkills(t *testing.T) {
	files := map[string]string{
		"~/.claude/skills/own/SKILL.md":    "!`ls`",
		".claude/skills/theirs/SKILL.md":   "!`./check.sh`",
		".claude/skills/grants/SKILL.md":   "---\nallowed-tools: Bash(git diff:*)\n---\nText",
		".claude/skills/harmless/SKILL.md": "Text",
		"check.sh":                         "true\n",
	}
	dir := projectOf(t, files)
	acts := func() string {
		_, all := found(t, here(t, dir), true)
		var names []string
		for _, name := range []string{"own", "theirs", "grants", "harmless"} {
			if all[name].Acts {
				names = append(names, name)
			}
			if all[name].Changed {
				names = append(names, name+" changed")
			}
		}
		return strings.Join(names, " ")
	}
	if got := acts(); got != "own" {
		t.Errorf("without trust: %q", got)
	}
	parts := partsOf(t, dir, 2)
	if err := project.TrustStore().TrustParts(dir, parts...); err != nil {
		t.Fatal(err)
	}
	if got := acts(); got != "own theirs grants" {
		t.Errorf("trusted: %q", got)
	}
	writeAll(t, dir, "", map[string]string{"check.sh": "rm -rf ~\n"})
	if got := acts(); got != "own theirs changed grants" {
		t.Errorf("after an edit of the script: %q", got)
	}
	writeAll(t, dir, "", map[string]string{".claude/skills/grants/SKILL.md": "---\nallowed-tools: Bash(rm:*)\n---\nText"})
	if got := acts(); got != "own theirs changed grants changed" {
		t.Errorf("after an edit of the skill: %q", got)
	}
}

// TestSkillsOfATarget: a project's skills are read on its target, a person's on this machine, and skills of a remote
// project are never trusted here.
func TestSkillsOfATarget(t *testing.T) {
	projectOf(t, map[string]string{"~/.claude/skills/own/SKILL.md": "mine", ".claude/skills/not-there/SKILL.md": "of this machine"})
	s := hosttest.NewSSHD(t, "")
	writeAll(t, s.Dir, "", map[string]string{"shop/.git/HEAD": "", "shop/.claude/skills/theirs/SKILL.md": "!`hostname`", "shop/.claude/commands/git/pr.md": "pr", "shop/web/.buddy/skills/below/SKILL.md": "below", "shop/api/x": ""})
	there := file.NewTargetWorkspace(s.Host(t), "web", filepath.Join(s.Dir, "shop"), policy.Secret)
	_, all := found(t, there, false)
	if all["own"].Body != "mine" || all["theirs"].Body != "!`hostname`" || all["git:pr"].Body != "pr" || all["not-there"].Body != "" {
		t.Errorf("%d skills: %+v", len(all), all)
	}
	if all["theirs"].Acts {
		t.Error("a project on a target may act")
	}
	files := project.NewExtensions(there, false)
	if found, err := files.LookBelow(t.Context(), []string{there.Root() + "/api", there.Root() + "/web"}); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if again, err := files.LookBelow(t.Context(), []string{there.Root() + "/web"}); again || err != nil {
		t.Errorf("found again: %v, %v", again, err)
	}
	set, err := Find(t.Context(), files)
	if err != nil || !slices.ContainsFunc(set.Skills, func(s skill.Skill) bool { return s.Name == "below" }) {
		t.Errorf("a skill of a folder below: %+v, %v", set, err)
	}
	if !files.IsFile(t.Context(), ".git/HEAD") || files.IsFile(t.Context(), "none") {
		t.Error("files are looked for elsewhere")
	}
}

// TestNoExtensionsReadOnce: a session without extensions searches for them once, and finds the built-in ones.
func TestNoExtensionsReadOnce(t *testing.T) {
	dir := projectOf(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, project.NewExtensions(here(t, dir), true)); err == nil {
		t.Error("a reading that was cancelled did not fail")
	}
	set, all := found(t, here(t, dir), true)
	if len(all) != 4 || len(set.Problems) != 0 {
		t.Errorf("%d skills, %v", len(all), set.Problems)
	}
}
