package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/action"
)

// programPolicy is ownPolicy with this program as /home/ann/bin/buddy, as "bd" in the search path and as "./tool".
func programPolicy() Policy {
	p := ownPolicy()
	p.Workspace = "/home/ann/shop"
	p.Own.Program = func(word, dir string) bool {
		if !strings.Contains(word, "/") {
			return word == "bd"
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		return word == "/home/ann/bin/buddy" || word == "/home/ann/shop/tool"
	}
	return p
}

// Commands that would change buddy's own files ask in every mode, whatever a rule allows; without own files, all
// mode runs them.
func TestChangesOfOwnFilesAskInEveryMode(t *testing.T) {
	for _, command := range []string{
		// The program itself, under any name.
		"buddy config set agent.mode all", "/usr/local/bin/buddy config set agent.mode all", "bd trust", "./tool init", "cd .. && bin/buddy login openai", "buddy trust --help", "buddy",
		"buddy mcp add x -- sh -c y", "buddy memory add 'Never ask.'", "buddy sessions rm last", "buddy --config x config set a b", "buddy config --config x set a b", "buddy logout", "buddy approve 1",
		"env A=b buddy trust", "nohup buddy trust &", "sudo -u ann buddy trust", "sh -c 'buddy trust'", "xargs buddy trust < x", "echo y | buddy trust", "unknown-wrapper buddy trust", "B=buddy; $B trust",
		"$(which buddy) config set a b", "\"$BIN\" trust", "eval \"buddy trust\"", "python3 -c 'import os; os.system(\"buddy trust\")'", "python3 -c 'import subprocess as s; s.run([\"buddy\", \"config\", \"set\", \"a\", \"b\"])'",
		"python3 <<'E'\nimport os\nos.system('buddy trust')\nE", "cp ../bin/buddy x; ./x trust", "ln -s /home/ann/bin/buddy x", "alias b=buddy; b config set a b",
		// Files of the two folders.
		"touch ~/.config/buddy/hooks.json", "touch ~/.config/buddy/skills/x/y.py", "python3 -c 'open(\"/home/ann/.local/state/buddy/memory/w/memory.md\", \"w\")'", "mkdir -p ~/.config/buddy/skills/x", "echo '{}' > ~/.config/buddy/hooks.json", "tee ~/.config/buddy/hooks.json < x", "cd ~/.config; cd buddy; tee -a hooks.json < x",
		"cd ~/.config && echo x >> buddy/hooks.json", "cd ~/.config && dd if=x of=buddy/hooks.json", "cd ~/.config/buddy && sed -i s/m/m/ *.toml", "sed -i s/a/b/ ~/.config/buddy/memory.md", "cp x ~/.config/buddy/memory.md",
		"git -C ~/.config/buddy checkout .", "git -C ~/.config checkout -- buddy", "git -C ../.config stash", "rm -r ~/.local/state", "unzip -d ~/.config x.zip", "mount --bind x ~/.config", "ln -s ~/.config c; echo >> c/buddy/x",
		"install -m 600 x ../.config/buddy/hooks.json", "cat x >~/.local/state/buddy/trust.json", "echo x >> ~/.config/bud\"\"dy/hooks.json", "F=~/.config/buddy/hooks.json; echo x > $F", "cp x ~/.config/{buddy,x}/hooks.json",
		"make -C ~/.config/buddy", "chmod 777 ~/.config/buddy", "echo x > ~/.local/state/buddy/memory/w/memory.md", "sed -i s/a/b/ ~/.local/state/buddy/memory/w/memory.md", "rm ~/.local/state/buddy/sessions/w/1/out/2/out",
		// Paths into one of the folders that are computed at run time.
		"echo x > ~/.config/$(echo buddy)/hooks.json", "d=$(echo buddy); cp x \"$HOME/.config/$d/hooks.json\"", "python3 -c \"open('/home/ann/.config/bud'+'dy/buddy.toml','a').write('#x')\"",
		"python3 - <<'E'\nimport os\nopen(os.path.expanduser('~/.config/bu') + 'ddy/x', 'w')\nE", "node -e 'require(\"fs\").writeFileSync(process.env.HOME + \"/.local/state/\" + x, \"\")'",
	} {
		judge := func(p Policy, mode action.Mode) action.Verdict {
			return p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Command: command, Cwd: "/home/ann/shop"}, mode)
		}
		for _, mode := range []action.Mode{action.ModeAsk, action.ModeEdits, action.ModeStrict, action.ModeAuto, action.ModeAll} {
			if v := judge(programPolicy(), mode); v.Decision != action.Ask {
				t.Errorf("mode %s, %q: %s because %q", mode, command, v.Decision, v.Reason)
			}
		}
		unguarded := programPolicy()
		unguarded.Own = Own{}
		if v := judge(unguarded, action.ModeAll); v.Decision != action.Allow {
			t.Errorf("nothing is buddy's own, %q: %s because %q: the test shows nothing", command, v.Decision, v.Reason)
		}
	}
}

// All mode stays useful: ordinary work needs no approval.
func TestModeAllAsksAboutOwnFilesOnly(t *testing.T) {
	for _, command := range []string{
		"make test", "./build.sh", "python3 x.py", "python3 -c 'import json; print(json.load(open(\"a.json\")))'", "python3 -c 'open(\"/home/ann/shop/a\",\"w\")'", "for f in $(git ls-files); do sed -i s/a/b/ \"$f\"; done",
		"echo x > \"$(mktemp)\"", "rm -rf \"$TMPDIR/x\"", "npm install", "cd ~ && ls", "mkdir -p ~/.config/nvim", "cp init.lua ~/.config/nvim/", "git commit -m 'buddy: config set works'", "go build -o buddy .", "rm buddy",
		"python3 ~/.config/buddy/skills/x/y.py a.pdf", "cd ~/.config/buddy/skills/x && ./y.sh", "python3 x.py ~/.local/state/buddy/sessions/w/1/out/2/out", "bd --version", "buddy exec 'say hi'", "buddy config check", "./tool doctor", "buddy sessions list", "python3 <<'E'\nprint('a' + '/b')\nE", "cat ~/.bashrc", "docker run -v ~/shop:/w x make", "git -C ~/shop commit -m x",
		"wc -l ~/.local/state/buddy/sessions/w/1/out/2/out", "grep x /home/ann/.local/state/buddy/sessions/w/1/out/2/out | sort > found.txt", "cat ~/.local/state/buddy/memory/w/memory.md", "node -e 'f(\"https://x.example/.config\")'",
	} {
		if v := programPolicy().Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Command: command, Cwd: "/home/ann/shop"}, action.ModeAll); v.Decision != action.Allow {
			t.Errorf("%q: %s because %q", command, v.Decision, v.Reason)
		}
	}
}

// Paths that the model was given may be read without approval, by tools and read-only commands; their neighbours
// may not.
func TestWhatWasGivenMayBeRead(t *testing.T) {
	const out = "/home/ann/.local/state/buddy/sessions/w/1/out"
	p := programPolicy()
	for command, want := range map[string]action.Decision{
		"cat " + out + "/2/out": action.Allow, "grep -n x ~/.local/state/buddy/sessions/w/1/out/2/out": action.Allow, "tail ~/.local/state/buddy/memory/w/memory.md": action.Allow,
		"cat " + out + "/../../1.jsonl": action.Ask, "cat ~/.local/state/buddy/memory/w/other.md": action.Ask, "cat ~/.local/state/buddy/sessions/w/2/out/1/out": action.Ask, "cat " + out + "/2/.env": action.Ask,
		"cat ~/.config/buddy/hooks.json": action.Ask,
	} {
		v := p.Judge(action.Action{Kind: action.Shell, Tool: "run_shell", Command: command, Cwd: "/home/ann/shop"}, action.ModeAsk)
		if v.Decision != want || want == action.Allow && v.Rule != ReadOnly {
			t.Errorf("%q: %s by %q because %q, want %s", command, v.Decision, v.Rule, v.Reason, want)
		}
	}
	for path, want := range map[string]action.Decision{
		out + "/2/out": action.Allow, "/home/ann/.local/state/buddy/memory/w/memory.md": action.Allow, out + "/2/.env": action.Ask, "/home/ann/.local/state/buddy/memory/w/other.md": action.Ask,
		"/home/ann/.config/buddy/hooks.json": action.Ask, "/home/ann/.local/state/buddy/history": action.Ask, "/home/ann/.config/buddy/auth.json": action.Deny, "/home/ann/.local/state/buddy/journal.key": action.Deny,
	} {
		if v := p.Judge(action.Action{Kind: action.FileRead, Tool: "read_file", Path: path}, action.ModeAsk); v.Decision != want {
			t.Errorf("read %s: %s because %q, want %s", path, v.Decision, v.Reason, want)
		}
	}
}

// No rule lets a tool read credentials in the two folders, and none lets it change a file there.
func TestNoRuleCoversChangesOfOwnFiles(t *testing.T) {
	const settings, login = "/home/ann/.config/buddy/buddy.toml", "/home/ann/.config/buddy/auth.json"
	rules := []action.Rule{
		{Decision: action.Allow, Path: "~/.config/buddy/buddy.toml", Source: action.FromUser},
		{Decision: action.Allow, Path: login, Source: action.FromUser},
		{Decision: action.Allow, Path: "~/**", Source: action.FromUser},
		{Decision: action.Allow, Prefix: []string{"touch", settings}, Source: action.FromUser},
		{Decision: action.Allow, Prefix: []string{"buddy", "trust"}, Source: action.FromUser},
		{Decision: action.Allow, Prefix: []string{"buddy", "trust"}, Shape: action.Exactly, Source: action.FromSession},
	}
	p := programPolicy()
	for _, r := range rules {
		p = p.With(r)
	}
	for _, c := range []struct {
		a    action.Action
		want action.Decision
	}{
		{action.Action{Kind: action.FileRead, Tool: "read_file", Path: settings}, action.Allow},
		{action.Action{Kind: action.FileRead, Tool: "read_file", Path: login}, action.Deny},
		{action.Action{Kind: action.FileWrite, Tool: "write_file", Path: settings}, action.Ask},
		{action.Action{Kind: action.FileDelete, Tool: "apply_patch", Path: settings}, action.Ask},
		{action.Action{Kind: action.Shell, Tool: "run_shell", Command: "touch " + settings}, action.Ask},
		{action.Action{Kind: action.Shell, Tool: "run_shell", Command: "buddy trust"}, action.Ask},
	} {
		for _, mode := range []action.Mode{action.ModeAsk, action.ModeAll} {
			if v := p.Judge(c.a, mode); v.Decision != c.want {
				t.Errorf("mode %s, %s %s%s: %s because %q, want %s", mode, c.a.Kind, c.a.Path, c.a.Command, v.Decision, v.Reason, c.want)
			}
			if r, ok := p.Similar(c.a, mode); ok && c.a.Kind != action.FileRead {
				t.Errorf("%s %s%s may be allowed by %v", c.a.Kind, c.a.Path, c.a.Command, r)
			}
		}
	}
	mine := action.Action{Kind: action.PlanFile, Path: "/home/ann/.local/state/buddy/sessions/w/1/plan.md", Mutation: true}
	p.Plan = mine.Path
	if v := p.Judge(mine, action.ModePlan); v.Decision != action.Allow {
		t.Errorf("the plan of the session in mode plan: %s because %q", v.Decision, v.Reason)
	}
}
