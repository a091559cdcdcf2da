package shell

import (
	"reflect"
	"testing"
)

// TestGitActs: commands of git are classified whatever stands around and between their words.
func TestGitActs(t *testing.T) {
	for command, want := range map[string]string{ // kind and deciding words; "" is no act
		"git status": "", "git add -A": "", "git fetch": "", "git branch x": "", "git rm x": "", "git stash list": "", "git clean -n -d": "", "git push --help x >f": "publishes git push",
		"git commit -m x": "records git commit", "git commit -m --amend": "records git commit", "git commit --amend": "rewrites git commit --amend", "git commit --am": "rewrites git commit --amend",
		`git commit -m "$x"`: "records git commit", "git commit $x": "rewrites git commit", "git merge x": "records git merge", "git merge --abort": "loses git merge --abort",
		"git tag v1": "records git tag", "git tag -d v1": "rewrites git tag -d", "git pull": "records git pull", "git pull --rebase": "rewrites git pull --rebase", "git stash": "records git stash",
		"git stash pop": "records git stash", "git stash drop": "loses git stash drop", "git stash clear": "loses git stash clear", "git stash $x": "loses git stash drop",
		"git push": "publishes git push", "git push -u origin x": "publishes git push", "git push --force": "replaces git push --force", "git push -uf": "replaces git push -f", "git push --for": "replaces git push --force",
		"git push --force-with-lease=x": "replaces git push --force-with-lease", "git push origin +x": "replaces git push +…", "git push origin :x": "replaces git push :…", "git push -d origin x": "replaces git push -d", "git push -o -f x": "publishes git push",
		"git rebase x": "rewrites git rebase", "git rebase -x 'rm x' y": "runs git rebase -x", "git reset": "rewrites git reset", "git reset --soft x": "rewrites git reset", "git reset --hard": "loses git reset --hard",
		"git reset x --har": "loses git reset --hard", "git reset $x": "loses git reset", "git branch -D x": "loses git branch -D", "git branch -d x": "rewrites git branch -d", "git branch -fd x": "loses git branch -f",
		"git checkout": "records git checkout", "git checkout x": "loses git checkout", "git checkout -b x": "records git checkout -b", "git checkout -- x": "loses git checkout --", "git checkout -qf": "loses git checkout -f",
		"git checkout -B x": "rewrites git checkout -B", "git switch x": "records git switch", "git switch --disc x": "loses git switch --discard-changes", "git switch -C x": "rewrites git switch -C",
		"git restore x": "loses git restore", "git restore --staged x": "records git restore --staged", "git restore -SW x": "loses git restore -W", "git restore --staged --no-staged x": "loses git restore", "git clean -fdx": "loses git clean -x",
		"git clean -f": "loses git clean", "git clean -n --no-dry-run -f": "loses git clean", "git clean -fX": "loses git clean -X", "git rm -rf x": "loses git rm -f", "git worktree remove x": "", "git worktree remove -f x": "loses git worktree remove -f",
		"git co -f": "runs git co", "git $x": "runs git", "git -c alias.x='!rm x' x": "runs git x", "git -c core.fsmonitor='rm x' add y": "runs git -c … add", "git -c a=b reset --hard": "loses git reset --hard",
		"git --config-env=a=B add x": "runs git -c … add", "git --what reset": "runs git", "git submodule foreach 'git reset --hard'": "runs git submodule foreach", "git bisect run x": "runs git bisect run",
		"git -C d --no-pager reset -q --hard": "loses git reset --hard", "/usr/bin/git reset --hard": "loses git reset --hard", `g"i"t re\set --h"ar"d`: "loses git reset --hard", "git {reset,--hard}": "runs git",
		"env A=1 git reset --hard": "loses git reset --hard", "sh -c 'git reset --hard'": "loses git reset --hard", "sudo git reset --hard": "loses git reset --hard", "eval 'git reset --hard'": "loses git reset --hard",
		"echo --hard | xargs git reset": "loses git reset", "find . -exec git checkout -- {} +": "loses git checkout --", "timeout 5 bash -c 'cd x && git reset --hard'": "loses git reset --hard", "echo $(git reset --hard)": "loses git reset --hard",
		"f() { git reset --hard; }; f": "loses git reset --hard", "ls git reset --hard": "", "echo git reset --hard": "",
	} {
		got := ""
		for _, c := range Analyse(command, Env{Cwd: "/w"}).Commands {
			if c.Git != nil && got == "" {
				got = string(c.Git.Kind) + " " + c.Git.Name
			}
			if c.Git != nil && c.ReadOnly {
				t.Errorf("%s: only reads, and %+v", command, c.Git)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// TestGitActFolder: the folder of a command of git is given only when it is certain.
func TestGitActFolder(t *testing.T) {
	for command, want := range map[string]string{
		"git reset --hard": "/w", "git -C a -C b reset --hard": "/w/a/b", "git -C /x reset --hard": "/x", "cd a && git reset --hard": "/w/a", "sh -c 'cd a && git reset --hard'": "/w/a", "env git reset --hard": "/w",
		"cd $x && git reset --hard": "", "git -C $x reset --hard": "", "git --git-dir=/x reset --hard": "", "git --work-tree /x reset --hard": "", "GIT_DIR=/x git reset --hard": "", "env GIT_WORK_TREE=/x git reset --hard": "",
		"git -C a status; git reset --hard": "/w", "su -c 'git reset --hard'": "", "export GIT_DIR=/x; git reset --hard": "", "env -C /x git reset --hard": "", "ssh h git reset --hard": "", "find . -execdir git reset --hard \\;": "", "sudo -D /x git reset --hard": "", "cd a; git reset --hard": "", "cd .; git reset --hard": "/w",
	} {
		var got []string
		for _, c := range Analyse(command, Env{Cwd: "/w"}).Commands {
			if c.Git != nil {
				got = append(got, c.Git.Dir)
			}
		}
		if !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%s: in %q, want %q", command, got, want)
		}
	}
}

// TestGitTable: rows that are never reached would promise what does not hold.
func TestGitTable(t *testing.T) {
	done := map[string]bool{}
	for _, r := range gitActs {
		if done[r.name] {
			t.Errorf("a row of git %s stands behind the one that fits all", r.name)
		}
		done[r.name] = r.with == ""
		if (r.kind == "") != (r.does == "") || (r.loss != "") != (r.kind == GitLoses) || r.kind != "" && gitEffects[r.kind] == "" {
			t.Errorf("git %s %s: %+v", r.name, r.with, r)
		}
	}
}
