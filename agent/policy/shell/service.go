package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// service returns why a command that queries a service needs approval, or "".
func (a *analyser) service(name string, words []arg) string {
	s, rest := lookup(name, words)
	if s == nil {
		return effectOf(name, words).reason
	}
	c, why := s.sort(rest)
	switch {
	case why != "":
		return why
	case s.max == -1 && len(c.rest) > 0, s.max > 0 && (len(c.rest) > s.max || slices.ContainsFunc(c.rest, func(w arg) bool { return w.split })):
		return s.name + " with more arguments may not be read-only"
	}
	for _, w := range slices.Concat(c.rest, c.given()) {
		for _, v := range w.vals {
			if v.kind == dynamic {
				return "an argument of " + s.name + " is known only when it runs: " + texts.ClipBytes(w.src, 60)
			}
			if why := a.folders.secret(v); why != "" && v.kind == literal {
				return why
			}
		}
	}
	if s.check != nil {
		return s.check(c)
	}
	return ""
}

// lookup returns the table entry of a command and the words after its name. The program's own flags may precede the
// subcommand.
func lookup(name string, words []arg) (*spec, []arg) {
	table := services()
	rest := words[1:]
	globals, ok := table[name+" *"]
	if !ok {
		return table[name], rest
	}
	_, n, why := globals.leading(rest)
	if why != "" {
		return nil, nil
	}
	key := name
	var found *spec
	after := n
	for i := n; i < len(rest) && i < n+3; i++ {
		word, ok := rest[i].lit()
		if !ok || strings.HasPrefix(word, "-") {
			break
		}
		key += " " + word
		if s := table[key]; s != nil {
			found, after = s, i+1
		}
	}
	if found == nil {
		if n < len(rest) { // unknown subcommand
			return nil, nil
		}
		return table[name], rest
	}
	return found, rest[after:]
}

// needs returns a check that requires one of the flags, because without it the command does more than read.
func needs(flags ...string) func(*call) string {
	return func(c *call) string {
		switch {
		case !c.has(flags...):
			return c.spec.name + " without " + flags[0] + " may not be read-only"
		case !c.words[0].dash():
			return c.spec.name + " may read its first argument as a command, and " + flags[0] + " as a name"
		}
		return ""
	}
}

// words returns a check that the first operand is one of the allowed subcommands; "" among them allows a call without
// operands.
func words(allowed ...string) func(*call) string {
	return func(c *call) string {
		first := ""
		if len(c.rest) > 0 {
			var ok bool
			if first, ok = c.rest[0].lit(); !ok || first == "" {
				return "what " + c.spec.name + " does is known only when it runs"
			}
		}
		if slices.Contains(allowed, first) {
			return ""
		}
		return strings.TrimSpace(c.spec.name+" "+texts.ClipBytes(first, 40)) + " is not known to be read-only"
	}
}

// literals returns the values of the operands if all are known.
func literals(list []arg) ([]string, bool) {
	out := make([]string, len(list))
	for i, w := range list {
		s, ok := w.lit()
		if !ok {
			return nil, false
		}
		out[i] = s
	}
	return out, true
}

func serviceStatus(c *call) string {
	names, ok := literals(c.rest)
	if ok && (len(names) == 2 && names[1] == "status" && plain(names[0], "-_.@") || len(names) == 1 && names[0] == "--status-all") {
		return ""
	}
	return "service may change services"
}

func systemctlShow(c *call) string {
	for _, w := range c.values("-p", "--property") {
		if s, ok := w.lit(); !ok || texts.HasAny(s, "env", "exec") {
			return "systemctl show may print secrets in environment variables"
		}
	}
	if len(c.values("-p", "--property")) == 0 {
		return "systemctl show prints a service's environment variables, which may hold secrets"
	}
	return ""
}

// plainFormat matches formats of tmux with variables only: #{name} and #S.
var plainFormat = texts.Regexp(`^([^#]|#\{\w*\}|#[0-9A-Za-z])*$`)

// tmuxFormat refuses formats whose parts are expanded again or run a command. It also refuses a word that ends in ;,
// because that starts another command.
func tmuxFormat(c *call) string {
	for _, w := range c.words {
		if s, ok := w.lit(); !ok || strings.HasSuffix(s, ";") {
			return "tmux may start another command after " + texts.ClipBytes(w.src, 40)
		}
	}
	for _, w := range c.values("-F", "-f") {
		s, _ := w.lit()
		if !plainFormat().MatchString(s) {
			return "a tmux format may run a command"
		}
	}
	return ""
}

// dockerInspect refuses a format that could show the environment of a container.
func dockerInspect(c *call) string {
	formats := c.values("-f", "--format")
	if len(formats) == 0 {
		return c.spec.name + " prints a container's environment variables, which may hold secrets"
	}
	for _, w := range formats {
		s, ok := w.lit()
		if !ok || texts.HasAny(s, "env", "config}", "config)", "config ", "json .}", "json . ", "{{.}}", "{{ . }}", "$", "range", "index") || s == "json" || strings.HasSuffix(s, "Config") {
			return c.spec.name + " may print a container's environment variables, which may hold secrets"
		}
	}
	return ""
}

// kubeGet refuses secrets, and formats read from files.
func kubeGet(c *call) string {
	names, ok := literals(c.rest)
	if !ok {
		return "what kubectl reads is known only when it runs"
	}
	for _, n := range names {
		if texts.HasAny(n, "secret") {
			return c.spec.name + " " + texts.ClipBytes(n, 40) + " may print secrets"
		}
	}
	for _, w := range c.values("-o", "--output") {
		s, ok := w.lit()
		if !ok || strings.Contains(s, "-file") || texts.HasAny(s, "env") {
			return "a kubectl format that may read a file or print secrets"
		}
	}
	return ""
}

// ghQuery refuses a query that reads the environment.
func ghQuery(c *call) string {
	for _, w := range append(c.values("-q", "--jq"), c.values("-t", "--template")...) {
		if s, ok := w.lit(); !ok || texts.HasAny(s, "env") {
			return c.spec.name + " with a query that may print secrets"
		}
	}
	return ""
}
