package policy

import (
	"errors"
	"testing"

	"buddy/agent/action"
)

// The table decides which commands a person may try first, and says why others can't be tried.
func TestWhatMayBeTried(t *testing.T) {
	p := fencedPolicy()
	p.Tries = func() error { return nil }
	for command, want := range map[string]string{
		"rm -rf dist":                       "",
		"sed -i s/a/b/ *.go":                "",
		"npm install":                       "",
		"make test":                         "",
		"python3 migrate.py":                "",
		"sqlite3 app.db 'drop table users'": "",
		"git commit -m x":                   "",
		"git rebase main":                   "",
		"rsync -a src/ dst/":                "",
		"rsync -a src/ ann@web:dst/":        "rsync acts on another machine or a service, which a try can't reach",
		"docker build .":                    "docker acts through the Docker service, which a try can't reach",
		"make && docker run x":              "docker acts through the Docker service, which a try can't reach",
		"podman rm x":                       "podman acts through its storage, which a try can't reach",
		"kubectl apply -f x":                "kubectl acts through a cluster, which a try can't reach",
		"systemctl restart nginx":           "systemctl acts through systemd, which a try can't reach",
		"crontab new":                       "crontab acts through the folder of scheduled jobs, with elevated privileges, which a try can't reach",
		"kill 12":                           "kill acts through another process, which a try can't reach",
		"ssh web rm x":                      "ssh acts on another machine or a service, which a try can't reach",
		"scp a web:":                        "scp acts on another machine or a service, which a try can't reach",
		"terraform apply":                   "terraform acts on another machine or a service, which a try can't reach",
		"psql -c 'drop table x'":            "psql acts on another machine or a service, which a try can't reach",
		"git push":                          "git push publishes commits, and a try has no network",
		"curl -X POST example.com":          "curl uses the network, which a try does not have",
		"git fetch":                         "git uses the network, which a try does not have",
		"sudo rm x":                         "it runs with elevated privileges, which a try does not have",
	} {
		got := p.Context(at(sh(command)), action.ModeAsk).Try
		if got.Why != want || got.Offered != (want == "") {
			t.Errorf("%s: %+v, want %q", command, got, want)
		}
	}
}

// A command is tried only on this machine, where it works, and where a person decides.
func TestWhereCommandsMayBeTried(t *testing.T) {
	rm := at(sh("rm -rf dist"))
	able, unable := func() error { return nil }, func() error { return errors.New("a container") }
	change := func(f func(*action.Action)) action.Action {
		a := rm
		f(&a)
		return a
	}
	several := []action.TargetCwd{{Target: "local"}, {Target: "web"}}
	target := func(tg Target) Policy { return Policy{At: func(string) Target { return tg }} }
	for name, c := range map[string]struct {
		p    Policy
		a    action.Action
		mode action.Mode
		want action.Try
	}{
		"here":            {target(Target{Fence: able, Tries: able}), rm, action.ModeAsk, action.Try{Offered: true}},
		"exec":            {target(Target{Fence: able}), rm, action.ModeAsk, action.Try{}},
		"another target":  {target(Target{Tries: able}), rm, action.ModeAsk, action.Try{Why: errNoFence.Error()}},
		"no sandbox":      {target(Target{Fence: unable, Tries: able}), rm, action.ModeAsk, action.Try{Why: "a container"}},
		"no place":        {target(Target{Fence: able, Tries: unable}), rm, action.ModeAsk, action.Try{Why: "a container"}},
		"production":      {target(Target{Fence: able, Tries: able, Guarded: true}), rm, action.ModeAsk, action.Try{Why: "local is marked as production"}},
		"in plan mode":    {fencedPolicy(), at(sh("ls")), action.ModePlan, action.Try{Why: "plan mode is on"}},
		"denied":          {target(Target{Fence: able, Tries: able}), at(sh("rm -rf /")), action.ModeAsk, action.Try{}},
		"a typed text":    {target(Target{Fence: able, Tries: able}), change(func(a *action.Action) { a.Kind, a.Tool = action.PaneKeys, "send-keys" }), action.ModeAsk, action.Try{}},
		"in background":   {target(Target{Fence: able, Tries: able}), change(func(a *action.Action) { a.NoTry = "it may keep running" }), action.ModeAsk, action.Try{Why: "it may keep running"}},
		"outside":         {target(Target{Fence: able, Tries: able}), change(func(a *action.Action) { a.Outside = true }), action.ModeAsk, action.Try{Why: "it asks to run outside the sandbox, and a try is inside"}},
		"several targets": {target(Target{Fence: able, Tries: able}), change(func(a *action.Action) { a.Targets = several }), action.ModeAsk, action.Try{Why: "it runs on several machines"}},
	} {
		if c.p.At == nil {
			c.p.Tries = able
		}
		if got := c.p.Context(c.a, c.mode).Try; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
