package policy

import (
	"cmp"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/policy/shell"
)

// unreached lists programs that act through another process or device, which they can't reach from the sandbox of a
// try. It omits those that the analysis reports in Talks.
var unreached = map[string]string{
	"screen": "the screen server", "at": "the folder of scheduled jobs", "batch": "the folder of scheduled jobs",
	"dbus-send": "a service", "busctl": "a service", "gdbus": "a service", "machinectl": "systemd", "shutdown": "systemd", "reboot": "systemd",
	"virsh": "a virtual machine", "vagrant": "a virtual machine", "minikube": "a cluster", "lxc": "a container", "incus": "a container",
	"kill": "another process", "pkill": "other processes", "killall": "other processes",
	"open": "another program", "xdg-open": "another program",
}

// tries reports whether the user can try an action before approving it. whole is the action on all its targets.
func tries(whole action.Action, j judgement) action.Try {
	p, a := j.on, j.action
	if a.Tool != "run_shell" || !isCommand(a.Kind) || p.Tries == nil || j.verdict.Decision == action.Deny {
		return action.Try{}
	}
	why := ""
	switch {
	case len(whole.Targets) > 0:
		why = "it runs on several machines"
	case p.guarded:
		why = a.Target + " is marked as production"
	case j.mode == action.ModePlan:
		why = "plan mode is on"
	case a.NoTry != "":
		why = a.NoTry
	case a.Outside:
		why = "it asks to run outside the sandbox, and a try is inside"
	case a.Privesc:
		why = "it runs with elevated privileges, which a try does not have"
	default:
		why = cmp.Or(untriable(j.report), noTry(p))
	}
	return action.Try{Offered: why == "", Why: why}
}

// noTry returns why no command can be tried on the target, or "". The first call may take some milliseconds.
func noTry(p Policy) string {
	for _, check := range []func() error{p.Fence, p.Tries} {
		if check == nil {
			return errNoFence.Error()
		}
		if err := check(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// untriable returns why trying a script would show nothing of its effect, or "".
func untriable(r shell.Report) string {
	for _, c := range r.Commands {
		name := visible(c.Name())
		switch service := cmp.Or(shell.Talks(c), unreached[c.Name()]); {
		case service != "":
			return name + " acts through " + service + ", which a try can't reach"
		case c.Effect == shell.Privileged:
			return "it runs with elevated privileges, which a try does not have"
		case c.Git != nil && (c.Git.Kind == shell.GitPublishes || c.Effect == shell.Remote):
			return visible(c.Git.Name) + " " + c.Git.Does + ", and a try has no network"
		case c.Effect == shell.Remote || name == "rsync" && slices.ContainsFunc(c.Argv[1:], onHost):
			return name + " acts on another machine or a service, which a try can't reach"
		case c.Kind == shell.GUIAutomation:
			return name + " acts on the screen, which a try can't show"
		case c.Effect == shell.Network:
			return name + " uses the network, which a try does not have"
		}
	}
	return ""
}

// onHost reports whether an argument of rsync names a folder of another machine.
func onHost(w shell.Arg) bool {
	host, _, ok := strings.Cut(w.Text, ":")
	return ok && host != "" && !strings.HasPrefix(host, "-") && !strings.Contains(host, "/")
}
