package shell

import (
	"reflect"
	"testing"
)

// TestGitActs checks that git commands are classified whatever other words surround theirs.
func TestGitActs(t *testing.T) {
	for command, want := range map[string]string{ // kind and deciding words; "" is no effect
		"git status": "", "git add -A": "", "git fetch": "", "git branch x": "", "git rm x": "", "git stash list": "", "git clean -n -d": "", "git push --help x >f": "publishes git push",
		"git commit -m x": "records git commit", "git commit -m --amend": "records git commit", "git commit --amend": "rewrites git commit --amend", "git commit --am": "rewrites git commit --amend",
		`git commit -m "$x"`: "records git commit", "git commit $x": "rewrites git commit", "git merge x": "records git merge", "git merge --abort": "loses git merge --abort",
		"git tag v1": "records git tag", "git tag -d v1": "rewrites git tag -d", "git pull": "records git pull", "git pull --rebase": "rewrites git pull --rebase", "git stash": "records git stash",
		"git stash pop": "records git stash", "git stash drop": "loses git stash drop", "git stash clear": "loses git stash clear", "git stash $x": "loses git stash drop",
		"git push": "publishes git push", "git push -u origin x": "publishes git push", "git push --force": "replaces git push --force", "git push -uf": "replaces git push -f", "git push --for": "replaces git push --force",
		"git push --force-with-lease=x": "replaces git push --force-with-lease", "git push origin +x": "replaces git push +…", "git push origin :x": "replaces git push :…", "git push -d origin x": "replaces git push -d", "git push -o -f x": "publishes git push",
		"git push --receive-pack=./x . y": "runs git push --receive-pack", "git push --exec ./x o y": "runs git push --exec", "git push --receive-p ./x o y": "runs git push --receive-pack", "git push --exe ./x o y": "runs git push --exec", "git push -f --exec ./x o": "replaces git push -f",
		"git send-pack --exec=./x o": "runs git send-pack --exec", "git fetch --upload-pack=./x o": "runs git fetch --upload-pack", "git fetch --upload-p ./x o": "runs git fetch --upload-pack", "git pull --upload-pack ./x o": "runs git pull --upload-pack", "git clone --upload-pack ./x o": "runs git clone --upload-pack",
		"git clone -u ./x o": "runs git clone -u", "git clone -c a=b o": "runs git clone -c", "git clone --template=x o": "runs git clone --template", "git clone o": "", "git ls-remote --exec ./x o": "runs git ls-remote --exec", "git ls-remote --upload-p=./x o": "runs git ls-remote --upload-pack", "git ls-remote o": "",
		"git archive --remote=o --exec ./x HEAD": "runs git archive --exec", "git archive HEAD": "", "git fetch -p --tags o": "", "git fetch -u o": "", "git fetch $x": "runs git fetch",
		`git push origin "+${x:-main}"`: "replaces git push +…", "git push origin {+main,}": "replaces git push +…", "git push origin +{main,x}": "replaces git push +…", "git push origin {main,x}": "publishes git push", `git push origin ":${x:-gone}"`: "replaces git push :…", `git push origin "+$x"`: "replaces git push +…",
		`git push origin "+refs/heads/$x"`: "replaces git push +…", "git push origin ~+main": "replaces git push +…", "git push origin $'+main'": "replaces git push +…", `git push origin "v$x"`: "publishes git push", `git push origin "main:$x"`: "publishes git push", "git push origin ?main": "replaces git push +…", "git push origin $(git branch --show-current)": "replaces git push +…",
		`git push origin "$(git for-each-ref --format='%(refname:short)' --count=1)"`: "replaces git push +…", "git push origin main": "publishes git push", "git push -u origin HEAD": "publishes git push", "git push origin HEAD:refs/heads/x": "publishes git push",
		"git fetch origin main": "", "git fetch origin pull/3/head": "", "git fetch https://example.com/x main": "", "git fetch git@example.com:a/b": "", "git fetch origin main:refs/remotes/origin/main": "", "git fetch origin main:": "", "git fetch -p --depth 1 origin main": "",
		"git fetch . +evil:victim": "rewrites git fetch +…", "git fetch origin +main:main": "rewrites git fetch +…", "git fetch . evil:victim": "rewrites git fetch x:y", "git fetch . 'refs/heads/*:refs/heads/*'": "rewrites git fetch x:y", "git fetch . main:refs/remotes": "rewrites git fetch x:y", `git fetch . "evil:$x"`: "rewrites git fetch x:y", `git fetch . "evil$x"`: "rewrites git fetch x:y", `git fetch . "e:refs/remotes/$x"`: "",
		"git fetch . evil:{victim,other}": "rewrites git fetch x:y", "git fetch . {e,main:victim}": "rewrites git fetch x:y", "git fetch . evil*": "rewrites git fetch x:y", "git fetch --stdin origin": "rewrites git fetch --stdin", "git fetch --refmap=a:b origin": "rewrites git fetch --refmap", "git fetch -f --tags": "rewrites git fetch -f", "git fetch -P": "rewrites git fetch -P",
		"git pull . evil:victim": "rewrites git pull x:y", "git pull origin +main:main": "rewrites git pull +…", "git pull origin main": "records git pull", "git pull git@example.com:a/b main": "records git pull",
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

// TestGitActFolder checks that the folder of a git command is set only if it is certain.
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

// TestGitTable checks that every row can be reached: other rows would have no effect.
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

// TestGitRunsPrograms checks that options that run programs, and paths of local repositories, count as code;
// remotes by name, URLs and the repository itself do not.
func TestGitRunsPrograms(t *testing.T) {
	for command, want := range map[string]bool{
		"git push": false, "git push origin main": false, "git push -u origin HEAD": false, "git push origin feature/x": false, "git push . HEAD:x": false, "git push -o a/b origin main": false, "git push git@example.com:a/b main": false,
		"git push https://example.com/x main": false, "git push --repo=origin": false, "git fetch origin main": false, "git fetch origin pull/3/head": false, "git fetch -j 2 origin a/b": false, "git fetch --all": false, "git clone ssh://example.com/a/b": false,
		"git push --exec=./x origin": true, "git push -f --exec=./x origin": true, "git push -f origin": false, "git push {-f,--exec=./x} origin": true, "git fetch --upload-pack=./x origin": true,
		"git push /tmp/e.git main": true, "git push ./e.git main": true, "git push ../e.git main": true, "git push .. main": true, "git push ~/e.git main": true, "git push sub/e.git main": true, "git push file:///tmp/e.git main": true, "git push FILE:///tmp/e main": true,
		"git push {./e.git,main}": true, "git push e* main": true, "git push $'./e.git' main": true, "git push -- ./e.git": true, "git push -o x ./e.git": true, "git push --push-opt x sub/e.git": true, "git push --repo=./e.git": true, "git push --rep ./e.git": true, "git push --repo sub/e.git": true,
		"git fetch ./x": true, "git fetch --depth 1 sub/x": true, "git fetch --dep 1 sub/x": true, "git fetch --multiple origin sub/x": true, "git fetch ext::./x": true, "git pull ../x main": true, "git clone ../x": true, "git clone -b a/b ../x": true,
		"git ls-remote ./x": true, "git archive --remote=./x HEAD": true, "git archive --remote sub/x HEAD": true, "git remote add x ./e.git": true, "git remote add x https://example.com/x": false, "git send-pack ./e.git": true,
	} {
		got := false
		for _, c := range Analyse(command, Env{Cwd: "/w", Home: "/home/ann"}).Commands {
			got = got || c.Effect == RunsCode
		}
		if got != want {
			t.Errorf("%s: runs code is %v, want %v", command, got, want)
		}
	}
}
