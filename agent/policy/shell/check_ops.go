package shell

import (
	"strings"

	"buddy/texts"
)

// first returns the first word after the name, if known.
func (c *call) first() string {
	if len(c.words) == 0 {
		return ""
	}
	s, _ := c.words[0].lit()
	return s
}

func dpkgQuery(_ *analyser, c *call) string {
	if c.has("-l", "-L", "-s", "-S", "-p", "--list", "--status", "--listfiles", "--search", "--print-architecture", "--get-selections", "--version") {
		return ""
	}
	return "dpkg may change packages"
}

func rpmQuery(_ *analyser, c *call) string {
	if s := c.first(); strings.HasPrefix(s, "-q") || s == "--query" {
		return ""
	}
	return "rpm may change packages"
}

func pacmanQuery(_ *analyser, c *call) string {
	if strings.HasPrefix(c.first(), "-Q") {
		return ""
	}
	return "pacman may change packages"
}

func serviceStatus(_ *analyser, c *call) string {
	names, ok := literals(c.rest)
	if ok && (len(names) == 2 && names[1] == "status" && plain(names[0], "-_.@") || len(names) == 1 && names[0] == "--status-all") {
		return ""
	}
	return "service may change services"
}

func systemctlShow(_ *analyser, c *call) string {
	for _, w := range c.values("-p", "--property") {
		if s, ok := w.lit(); !ok || texts.HasAny(s, "env", "exec") {
			return "systemctl show may print secrets of the environment"
		}
	}
	if len(c.values("-p", "--property")) == 0 {
		return "systemctl show prints the environment of a service, which may hold secrets"
	}
	return ""
}

// tmuxFormat allows variables in formats, but nothing that is expanded again or runs a
// command. A word that ends in ; begins another command.
func tmuxFormat(_ *analyser, c *call) string {
	for _, w := range c.words {
		if s, ok := w.lit(); !ok || strings.HasSuffix(s, ";") {
			return "tmux may begin another command behind " + texts.ClipBytes(w.src, 40)
		}
	}
	for _, w := range c.values("-F", "-f") {
		s, _ := w.lit()
		for before, rest, found := strings.Cut(s, "#"); found; before, rest, found = strings.Cut(rest, "#") {
			_ = before
			name, after, closed := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
			switch {
			case strings.HasPrefix(rest, "{") && closed && plain(name, "_"):
				rest = after
			case rest != "" && plain(rest[:1], ""):
			default:
				return "a format of tmux may run a command"
			}
		}
	}
	return ""
}

// dockerInspect requires a format that omits the environment.
func dockerInspect(_ *analyser, c *call) string {
	formats := c.values("-f", "--format")
	if len(formats) == 0 {
		return c.spec.name + " prints the environment of a container, which may hold secrets"
	}
	for _, w := range formats {
		s, ok := w.lit()
		if !ok || texts.HasAny(s, "env", "config}", "config)", "config ", "json .}", "json . ", "{{.}}", "{{ . }}", "$", "range", "index") || s == "json" || strings.HasSuffix(s, "Config") {
			return c.spec.name + " may print the environment of a container, which may hold secrets"
		}
	}
	return ""
}

// kubeGet refuses secrets, and formats read from files.
func kubeGet(_ *analyser, c *call) string {
	names, ok := literals(c.rest)
	if !ok {
		return "what kubectl reads is computed"
	}
	for _, n := range names {
		if texts.HasAny(n, "secret") {
			return c.spec.name + " " + texts.ClipBytes(n, 40) + " may print secrets"
		}
	}
	for _, w := range c.values("-o", "--output") {
		s, ok := w.lit()
		if !ok || strings.Contains(s, "-file") || texts.HasAny(s, "env") {
			return "a format of kubectl that may read a file or print secrets"
		}
	}
	return ""
}

// ghQuery refuses a query that reads the environment.
func ghQuery(_ *analyser, c *call) string {
	for _, w := range append(c.values("-q", "--jq"), c.values("-t", "--template")...) {
		if s, ok := w.lit(); !ok || texts.HasAny(s, "env") {
			return c.spec.name + " with a query that may print secrets"
		}
	}
	return ""
}

func npmConfig(_ *analyser, c *call) string {
	names, ok := literals(c.rest)
	if !ok || len(names) != 1 || texts.HasAny(names[0], "auth", "token", "password", "cert", "key", "email") {
		return "npm config may print secrets"
	}
	return ""
}
