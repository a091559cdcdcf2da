package policy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
)

// TestGitActsAsk checks that commands that change history or lose work need approval in every mode except all,
// however they are wrapped, despite a rule of the session and a broad rule in the settings.
func TestGitActsAsk(t *testing.T) {
	allow := func(source action.Source, words string) action.Rule {
		return action.Rule{Decision: action.Allow, Tool: "run_shell", Prefix: strings.Fields(words), Source: source}
	}
	p := Policy{Workspace: "/w", Home: "/home/ann", Confined: true, Rules: []action.Rule{
		allow(action.FromUser, "git"), allow(action.FromSession, "git commit"), allow(action.FromSession, "git stash drop"), allow(action.FromSession, "git reset --hard"),
		allow(action.FromUser, "git clean"), allow(action.FromUser, "git -c"), allow(action.FromUser, "sh"), allow(action.FromUser, "env"), allow(action.FromUser, "xargs"), allow(action.FromUser, "timeout"),
	}}
	modes := map[action.Mode]action.Decision{
		action.ModeAsk: action.Ask, action.ModeStrict: action.Ask, action.ModeEdits: action.Ask, action.ModePlan: action.Deny, action.ModeNone: action.Deny, action.ModeAll: action.Allow,
	}
	for _, command := range []string{
		"git commit -m x", "git commit --amend", "git push", "git push --force", "git reset --hard", "git reset", "git clean -fd", "git checkout -- x", "git checkout x", "git restore x",
		"git switch --discard-changes x", "git stash drop", "git branch -D x", "git merge x", "git rebase x", "git tag -d x", "git worktree remove --force x",
		"git -C d reset --hard", "git -c alias.z='reset --hard' z", "git -c a=b commit", "git co .", "env git reset --hard", "sh -c 'git reset --hard'", "timeout 9 git commit", "echo x | xargs git checkout", "ls && git push",
		"env -C /w git reset --hard", "env -S 'git reset --hard'", "timeout --what 9 git reset --hard", "xargs -R 9 git reset --hard",
		"git $x", "git reset $(echo --hard)", "echo $(git reset --hard)", "git submodule foreach 'git clean -fd'",
	} {
		for mode, want := range modes {
			if v := p.Judge(sh(command), mode); v.Decision != want {
				t.Errorf("%s in mode %s: %+v, want %s", command, mode, v, want)
			}
		}
		if r, ok := p.Similar(sh(command), action.ModeAsk); ok {
			t.Errorf("%s: offers %v", command, r)
		}
	}
	for _, command := range []string{"git add x", "git fetch", "git status", "git clean -n"} { // the same rules allow these
		if v := p.Judge(sh(command), action.ModeAsk); v.Decision != action.Allow {
			t.Errorf("%s: %+v", command, v)
		}
	}
}

// TestGitActsByName checks that a rule in the settings applies to the commands that it names.
func TestGitActsByName(t *testing.T) {
	for _, tt := range []struct {
		rule, command string
		want          action.Decision
	}{
		{"git commit", "git commit -m x", action.Allow},
		{"git commit", "git commit --amend", action.Ask},
		{"git commit --amend", "git commit --amend", action.Allow},
		{"git commit --amend", "git commit --amend -m x", action.Ask},
		{"git push", "git push origin main", action.Allow},
		{"git push", "git push -f origin main", action.Ask},
		{"git push origin main", "git push origin main --force", action.Ask},
		{"git push", "git -C d push", action.Ask},
		{"git -C d push", "git -C d push", action.Allow},
		{"git reset --hard", "git reset --hard", action.Allow},
		{"git reset --hard", "git reset --hard HEAD~3", action.Ask},
		{"git reset", "git reset --hard", action.Ask},
		{"git checkout", "git checkout .", action.Ask},
		{"git push", "git push -u origin HEAD", action.Allow},
		{"git push", "git push origin {+main,}", action.Ask},
		{"git push", `git push origin "+$x"`, action.Ask},
		{"git fetch", "git fetch origin pull/3/head", action.Allow},
		{"git fetch", "git fetch . evil:victim", action.Ask},
		{"git fetch", "git fetch origin +main:main", action.Ask},
		{"git pull", "git pull origin main", action.Allow},
		{"git pull", "git pull . evil:victim", action.Ask},
		{"git push", "git push ../backup.git main", action.Allow},
		{"git push", "git push --receive-pack=./tool . HEAD:refs/heads/x", action.Ask},
		{"git push", "git push --exec ./tool origin main", action.Ask},
		{"git push --exec ./tool", "git push --exec ./tool", action.Allow},
		{"git fetch", "git fetch origin main", action.Allow},
		{"git fetch", "git fetch --upload-p ./tool origin", action.Ask},
		{"git clone", "git clone https://example.com/x", action.Allow},
		{"git clone", "git clone -u ./tool https://example.com/x", action.Ask},
		{"git co", "git co", action.Allow},
		{"git co", "git co x", action.Ask},
	} {
		p := Policy{Workspace: "/w", Rules: []action.Rule{{Decision: action.Allow, Prefix: strings.Fields(tt.rule), Source: action.FromUser}}}
		if v := p.Judge(sh(tt.command), action.ModeAsk); v.Decision != tt.want {
			t.Errorf("rule %q, %q: %+v, want %s", tt.rule, tt.command, v, tt.want)
		}
	}
}

// TestLosses checks that the approval names what would be lost, or says that it is unknown.
func TestLosses(t *testing.T) {
	t.Parallel()
	var asked []string
	answer, fail := "", error(nil)
	p := Policy{Workspace: "/w", Confined: true, Git: func(_ context.Context, dir string, args ...string) ([]byte, error) {
		asked = append(asked, dir+" "+strings.Join(args, " "))
		return []byte(answer), fail
	}}
	const status = " M a.go\x00M  b\x00?? new\x00?? d/\x00!! old.o\x00?? e\n\x1b[2J, f\x00"
	many := strings.Repeat(" M x\x00", 17)
	for _, tt := range []struct{ command, answer, want string }{
		{"git reset --hard", " M a.go\x00M  b\x00", "git reset --hard discards your changes in 2 files: a.go, b"},
		{"git reset --hard", many, "git reset --hard discards your changes in 17 files: x, x, x, x, x and 12 more"},
		{"git reset --hard", "", "git reset --hard finds no changes to discard"},
		{"git checkout -- a.go b", status, "git checkout -- discards your changes in 1 file: a.go"},
		{"git checkout x -- a.go b", " M a.go\x00M  b\x00", "git checkout -- discards your changes in 2 files: a.go, b"},
		{"git clean -f", status, `git clean deletes 2 untracked files: new, "e\n\x1b[2J, f"`},
		{"git clean -fd", status, `git clean deletes 3 untracked files: new, d/, "e\n\x1b[2J, f"`},
		{"git clean -fX", status, "git clean -X deletes 1 ignored file: old.o"},
		{"git stash drop 1", "stash@{0} WIP\x00stash@{1} other\x00", "git stash drop deletes 1 stash: stash@{1} other"},
		{"git stash clear", "stash@{0} WIP\x00stash@{1} o\x1b\x00", "git stash clear deletes 2 stashes: stash@{0} WIP, stash@{1} o�"},
		{"git push --force origin HEAD:main", "", "git push --force replaces or deletes commits of origin/main"},
		{"git push --force", "", "git push --force replaces or deletes commits of the other repository"},
		{"git branch -D a b", "", "git branch -D deletes commits that are only on a, b"},
		{"git reset $x", "", "git reset discards changes that are not committed (could not determine what would be lost: a part of the command is known only when it runs)"},
		{"git --git-dir=x reset --hard", "", "git reset --hard discards changes that are not committed (could not determine what would be lost: the folder is unknown)"},
		{"git submodule deinit x", "", "git submodule deinit deletes the files of submodules (could not determine what would be lost: not examined for this command)"},
		{"git commit -m x", "", ""},
		{"git status", "", ""},
	} {
		answer = tt.answer
		if got := strings.Join(p.Context(sh(tt.command), action.ModeAsk).Loses, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.command, got, tt.want)
		}
	}
	if !slices.Contains(asked, "/w --no-optional-locks -c core.fsmonitor=false -c core.untrackedCache=false -c status.relativePaths=false status --porcelain -z --no-renames --untracked-files=no --ignore-submodules=dirty -- a.go b") {
		t.Errorf("asked %q", asked)
	}
	fail = errors.New("x")
	unknown := func(p Policy, want string) {
		t.Helper()
		if got := p.Context(sh("git reset --hard"), action.ModeAsk).Loses; len(got) != 1 || !strings.Contains(got[0], "could not determine what would be lost: "+want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	unknown(p, "git gave no answer")
	unknown(Policy{Workspace: "/w"}, "no read-only sandbox here")
	p.Git = func(ctx context.Context, _ string, _ ...string) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	began := time.Now()
	unknown(p, "git took too long")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	p.Git = nil
	unknown(p, "git was not run")
	if got := p.Explain(action.ModeAsk, "local", "git reset --hard", "/w").String(); !strings.Contains(got, "rule: "+GitActs) || !strings.Contains(got, "lost: git reset --hard") {
		t.Error(got)
	}
}

// TestLossesOnTargets checks that each target has its own line.
func TestLossesOnTargets(t *testing.T) {
	p := Policy{At: func(target string) Target {
		if target == "web" {
			return Target{Workspace: "/srv"}
		}
		return Target{Workspace: "/w", Confined: true, Git: func(context.Context, string, ...string) ([]byte, error) { return []byte(" M a.go\x00"), nil }}
	}}
	act := sh("git reset --hard")
	act.Targets = []action.TargetCwd{{Target: "web", Cwd: "/srv"}, {Target: "local", Cwd: "/w"}}
	got := p.Context(act, action.ModeAsk).Loses
	if len(got) != 2 || !strings.HasPrefix(got[0], "on web: git reset --hard discards") || !strings.Contains(got[0], "no read-only sandbox here") || got[1] != "on local: git reset --hard discards your changes in 1 file: a.go" {
		t.Errorf("%q", got)
	}
	for range 9 {
		act.Targets = append(act.Targets, action.TargetCwd{Target: "local", Cwd: "/w"})
	}
	if got = p.Context(act, action.ModeAsk).Loses; len(got) != 6 || got[5] != "and on 6 more targets" {
		t.Errorf("%q", got)
	}
}

// TestGitActsUndo checks that irreversible commands get no instructions for undoing.
func TestGitActsUndo(t *testing.T) {
	for command, want := range map[string]string{
		"git reset --hard": "", "git stash drop": "", "git push --force": "", "git branch -D x": "", "git checkout -- x": "", "git co": "",
		"git commit -m x": "git reset --soft HEAD~1", "git commit --amend": "git reset --soft HEAD@{1}", "git branch -d x": "recreate the branch at the commit that git printed",
		"git checkout x": "git checkout - returns to the branch, but doesn't restore files",
	} {
		c := Policy{Workspace: "/w"}.Context(sh(command), action.ModeAsk)
		if c.Undo != want || c.Reversible != (want != "") {
			t.Errorf("%s: undo %q, reversible %v, want %q", command, c.Undo, c.Reversible, want)
		}
	}
}
