package shell

import (
	"strings"
	"sync"

	"buddy/texts"
)

// coreTools is the table of the literal core, at most 40 programs. Each flag is harmless in the GNU, BSD and busybox
// versions alike. This excludes date -d, which sets the kernel's time zone in one of them, and stat -f, whose meaning
// differs. The table omits commands that run until they are stopped (tail -f), and programs that load settings, plugins
// or another version from the current folder: git, go, cargo, npm, node, python, rg. A command must also be read-only
// by [looking] or [subcommands].
var coreTools = sync.OnceValue(func() map[string]*spec {
	return specs([]spec{
		{name: "ls", flags: "-aAlhtrSRd1FinksC"},
		{name: "cat", flags: "-nbsA"},
		{name: "head|tail", flags: "-n: -c: -q -#"},
		{name: "wc", flags: "-lwcm"},
		{name: "stat", flags: "-c: -L"},
		{name: "du", flags: "-shakmcx -d:"},
		{name: "df", flags: "-hTikmP"},
		{name: "pwd", flags: "-LP", max: -1},
		{name: "cd", check: coreFolder},
		{name: "readlink", flags: "-fn"},
		{name: "realpath"},
		{name: "grep", flags: "-EFivwxnclLqshHor -e: -A: -B: -C: -m:", own: 1, check: grepCheck},
		{name: "sort", flags: "-nrufhV -k: -t:"},
		{name: "uniq", flags: "-cdui", max: 1},
		{name: "cut", flags: "-d: -f: -c: -s"},
		{name: "tr", flags: "-cds", max: 2, own: 2},
		{name: "find", raw: true, check: coreFind},
		{name: "ps", flags: "-eAfalxuwT -o: -p: -C: -u:", check: psCheck},
		{name: "uptime", flags: "-p", max: -1},
		{name: "free", flags: "-bkmgh", max: -1},
		{name: "uname", flags: "-asnrvm", max: -1},
		{name: "hostname", flags: "-s", max: -1},
		{name: "date", flags: "-uR", check: dateCheck},
		{name: "id", flags: "-unGgr", max: 1},
		{name: "nproc|whoami|who", max: -1},
		{name: "echo", raw: true, check: escapes},
		{name: "md5sum|sha256sum", flags: "-b"},
		{name: "diff", flags: "-uqwbi", max: 2},
		{name: "which", flags: "-a"},
		{name: "ss", flags: "-tulnpaesH4"},
		// The following programs talk to a service, which they can't reach from the sandbox.
		{name: "docker ps|images", flags: dockerList},
		{name: "docker logs", flags: "-tn: --timestamps --tail: --since: --until:", max: 1},
		{name: "docker inspect", flags: "-f: --format: --type:"},
		{name: "docker top|diff", max: 1},
		{name: "docker port", max: 2},
		{name: "docker stats", flags: "-a --no-stream", check: needs("--no-stream")},
		{name: "docker version|info", max: -1},
		{name: "docker network|volume", max: 1, check: words("ls")},
		{name: "systemctl", flags: systemctlCore, max: -1},
		{name: "systemctl status|is-active|is-enabled|is-failed|list-units|list-unit-files|list-timers|show|cat", flags: systemctlCore},
		{name: "journalctl", flags: "-abekqrx -u: -n: -p: -o: -S: -U: -g: -t: --unit: --user-unit: --since: --until: --no-pager --lines: --priority: --output: --reverse --grep: --identifier: --utc --dmesg --boot --user --system --disk-usage --list-boots", max: -1},
		{name: "crontab", flags: "-l", max: -1},
		{name: "timedatectl", flags: "--no-pager", check: words("", "status", "show")},
		{name: "tmux ls|list-sessions", max: -1},
		{name: "tmux list-windows", flags: "-a -t:", max: -1},
		{name: "tmux list-panes", flags: "-as -t:", max: -1},
	})
})

const systemctlCore = "-alqr -t: -n: -p: --all --full --no-pager --no-legend --plain --type: --state: --failed --user --lines: --property: --value --quiet"

// coreFolder refuses a cd unless it names one known folder.
func coreFolder(c *call) string {
	if s, ok := literals(c.rest); !ok || len(s) != 1 || s[0] == "-" {
		return "cd to a folder that is known only when it runs"
	}
	return ""
}

// coreFindTests maps the tests that every find supports to the number of words that follow each.
var coreFindTests = map[string]int{
	"-name": 1, "-iname": 1, "-path": 1, "-type": 1, "-maxdepth": 1, "-mindepth": 1, "-size": 1, "-mtime": 1, "-mmin": 1, "-newer": 1, "-user": 1, "-perm": 1,
	"-print": 0, "-print0": 0, "-prune": 0, "-o": 0, "-a": 0, "-not": 0, "!": 0, "(": 0, ")": 0,
}

func coreFind(c *call) string {
	folders := true
	for i := 0; i < len(c.rest); i++ {
		text := c.rest[i].src
		n, ok := coreFindTests[text]
		folders = folders && !ok && !strings.HasPrefix(text, "-")
		if !folders && !ok {
			return "find " + texts.ClipBytes(text, 40) + " is not known to be read-only on every system"
		}
		i += n
	}
	return ""
}

// talkers maps programs to the service that they query and that the sandbox cuts off. Where there is a sandbox, such a
// command runs outside it if it is in the literal core; otherwise it needs approval.
var talkers = map[string]string{
	"docker": "the Docker service", "docker-compose": "the Docker service", "podman": "its storage", "nerdctl": "containerd", "kubectl": "a cluster", "helm": "a cluster",
	"systemctl": "systemd", "journalctl": "the journal", "loginctl": "logind", "hostnamectl": "a service", "timedatectl": "a service", "localectl": "a service",
	"systemd-analyze": "systemd", "service": "systemd", "launchctl": "launchd", "crontab": "the folder of scheduled jobs, with elevated privileges", "atq": "the folder of scheduled jobs, with elevated privileges",
	"tmux": "the tmux server", "snap": "snapd", "flatpak": "a service", "gh": "GitHub", "iptables": "the kernel, with elevated privileges", "ufw": "the kernel, with elevated privileges",
	"nvidia-smi": "a driver",
}

// Talks returns the service that a command queries, or "". A command that only prints its version queries none.
func Talks(c Command) string {
	if len(c.Argv) == 2 && (c.Argv[1].Text == "--version" || c.Argv[1].Text == "-V") {
		return ""
	}
	return talkers[c.Name()]
}
