package shell

import (
	"path"
	"slices"
	"strings"

	"buddy/texts"
)

// needs returns a check that one of the flags is given, without which the command does
// something else.
func needs(flags ...string) func(*analyser, *call) string {
	return func(_ *analyser, c *call) string {
		switch {
		case !c.has(flags...):
			return c.spec.name + " without " + flags[0] + " may do more than read"
		case !c.words[0].dash():
			return c.spec.name + " may take its first word for an order, and " + flags[0] + " for a name"
		}
		return ""
	}
}

// words returns a check that the first operand is a read-only subcommand; "" allows none.
func words(allowed ...string) func(*analyser, *call) string {
	return func(_ *analyser, c *call) string {
		first := ""
		if len(c.rest) > 0 {
			var ok bool
			if first, ok = c.rest[0].lit(); !ok || first == "" {
				return "what " + c.spec.name + " does is computed"
			}
		}
		if slices.Contains(allowed, first) {
			return ""
		}
		return strings.TrimSpace(c.spec.name+" "+texts.ClipBytes(first, 40)) + " is not known to only read"
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

// every makes a check that each operand is known and ok.
func every(why string, ok func(word string) bool) func(*analyser, *call) string {
	return func(_ *analyser, c *call) string {
		for _, w := range c.rest {
			if s, known := w.lit(); !known || !ok(s) {
				return why
			}
		}
		return ""
	}
}

func numbersOnly(_ *analyser, c *call) string {
	for _, w := range c.rest {
		if s, ok := w.lit(); !ok || !digits(strings.TrimPrefix(s, "-")) {
			return c.spec.name + " with something else than a number"
		}
	}
	return ""
}

// indexed returns the reason when an operand has an index that a shell would evaluate:
// a[$(cmd)].
func indexed(list []arg) bool {
	return slices.ContainsFunc(list, func(w arg) bool {
		for _, v := range w.vals {
			if strings.Contains(v.text, "[") && strings.ContainsAny(v.text, "$`") {
				return true
			}
		}
		return false
	})
}

// escapes refuses sequences that make a terminal do more than show colours.
func escapes(_ *analyser, c *call) string {
	for _, w := range c.words {
		for _, v := range w.vals {
			text := strings.ToLower(v.text)
			for _, esc := range []string{`\033`, `\e`, `\x1b`, `\u001b`, `\u1b`, `\0033`} {
				for _, kind := range []string{"]", "p", "_", "^", "x", "c", `\`} {
					if strings.Contains(text, esc+kind) {
						return c.spec.name + " with a sequence that the terminal obeys"
					}
				}
			}
		}
	}
	return ""
}

func printfCheck(a *analyser, c *call) string {
	if len(c.words) == 0 {
		return ""
	}
	if why := escapes(a, c); why != "" {
		return why
	}
	if w := c.words[0]; w.dash() || w.split {
		return "printf with a flag sets a variable"
	}
	if indexed(c.words) {
		return "printf may evaluate the index of a variable"
	}
	for _, w := range c.words[1:] {
		if why := shown(w); why != "" {
			return why
		}
	}
	return ""
}

var sleepCheck = every("sleep for a time that is not short", func(s string) bool {
	n := strings.TrimSuffix(s, "s")
	return len(n) <= 3 && digits(strings.Replace(n, ".", "", 1))
})

// setCheck allows the options that scripts usually set.
func setCheck(_ *analyser, c *call) string {
	for _, w := range c.rest {
		s, ok := w.lit()
		if !ok || !strings.HasPrefix(s, "+") || strings.Trim(s[1:], "euxv") != "" {
			return "set changes the words or the options of the shell"
		}
	}
	if len(c.words) == 0 || c.from >= 0 {
		return "set prints the variables of the shell, which may hold secrets"
	}
	for _, w := range c.values("-o") {
		if s, _ := w.lit(); !slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace", "noglob", "verbose"}, s) {
			return "set -o " + texts.ClipBytes(s, 40) + " changes how the shell reads"
		}
	}
	return ""
}

func cdCheck(a *analyser, c *call) string {
	if len(c.rest) == 0 {
		a.folders.cwds = append(a.folders.cwds, a.folders.env.Home)
		return ""
	}
	w := c.rest[0]
	text, ok := w.lit()
	if !ok || len(c.rest) > 1 || text == "-" || text == "" || text[0] == '+' {
		return c.spec.name + " to a folder that is not known"
	}
	if why := a.folders.reads(w); why != "" {
		return why
	}
	for _, dir := range []string{"/proc", "/dev", "/sys"} {
		if strings.HasPrefix(text, dir) {
			return "cd to a folder of the kernel"
		}
	}
	if len(a.folders.cwds) > 8 {
		return "more changes of the folder than can be followed"
	}
	a.folders.enter(text)
	return ""
}

// enter records a folder that the following commands may run in. The shell takes .. for the
// parent by name, a program for the parent of what links lead to.
func (d *folders) enter(text string) {
	d.entered = nil
	for _, dir := range d.cwds {
		switch {
		case strings.HasPrefix(text, "/"), dir == "":
			d.entered = append(d.entered, text)
		default:
			d.entered = append(d.entered, dir+"/"+text)
			if strings.Contains(text, "..") {
				d.entered = append(d.entered, path.Join(dir, text))
			}
		}
	}
	d.cwds = union(d.cwds, d.entered)
}

// union returns the folders of both lists, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func readCheck(a *analyser, c *call) string {
	if !c.in.piped {
		return "read waits for the terminal"
	}
	for _, w := range append(c.values("-a"), c.rest...) {
		s, ok := w.lit()
		v := a.scope.vars[s]
		if !ok || !validName(s) || v == nil || v.times < 2 {
			return "read sets a variable whose name is computed"
		}
		if why := assignable(s, arg{}, false); why != "" {
			return why
		}
		a.scope.sure[s] = true
	}
	return ""
}

var manCheck = every("man may read a file", func(s string) bool { return plain(s, "-_+.:") && !strings.HasPrefix(s, ".") })

var dateCheck = every("date with a time may set the clock", func(s string) bool { return strings.HasPrefix(s, "+") })

// psCheck allows BSD options without e, which prints environments. A ps that finds no user xe
// takes -auxe for auxe.
func psCheck(_ *analyser, c *call) string {
	const why = " may print environments, which may hold secrets"
	for _, w := range append(c.rest, c.values("-o", "-O", "--format")...) {
		s, ok := w.lit()
		if !ok {
			return "what ps prints is computed"
		}
		if strings.Contains(s, "env") {
			return "ps " + texts.ClipBytes(s, 40) + why
		}
	}
	for _, w := range c.rest {
		if s, _ := w.lit(); !digits(s) && strings.Trim(s, "axufwjlhrvsmT") != "" {
			return "ps " + texts.ClipBytes(s, 40) + why
		}
	}
	for _, w := range c.words {
		s, _ := w.lit()
		if letters, ok := strings.CutPrefix(s, "-"); !ok || strings.HasPrefix(letters, "-") {
			continue
		} else if i := strings.IndexAny(letters, "uUgGpqtCsoO"); i >= 0 && strings.Trim(letters[i+1:], "0123456789,xwf") != "" {
			return "ps " + texts.ClipBytes(s, 40) + why
		}
	}
	return ""
}

func getentCheck(_ *analyser, c *call) string {
	names, ok := literals(c.rest)
	if !ok || len(names) == 0 || !slices.Contains([]string{"passwd", "group", "hosts", "services", "protocols", "networks", "ahosts", "ahostsv4"}, names[0]) {
		return "getent may read passwords"
	}
	if strings.Contains(names[0], "hosts") && len(names) > 1 && strings.Contains(names[1], ".") {
		return "getent " + names[0] + " asks the network"
	}
	return ""
}

var sysctlCheck = every("sysctl may change the kernel", func(s string) bool { return plain(s, "._-/") })

// lsofCheck rejects words that begin with +, which are flags.
var lsofCheck = every("lsof with such words is not known to only read", func(s string) bool { return !strings.HasPrefix(s, "+") })

// ipCheck allows ip OBJECT [show|list …].
func ipCheck(_ *analyser, c *call) string {
	names, ok := literals(c.rest)
	if !ok || len(names) == 0 {
		return "what ip does is computed"
	}
	objects := []string{"a", "addr", "address", "l", "link", "r", "route", "ro", "n", "neigh", "neighbor", "neighbour", "rule", "maddr", "maddress", "tunnel"}
	if !slices.Contains(objects, names[0]) {
		return "ip " + texts.ClipBytes(names[0], 40) + " is not known to only read"
	}
	if len(names) == 1 || slices.Contains([]string{"show", "list", "ls", "sh"}, names[1]) || names[1] == "get" && strings.HasPrefix(names[0], "r") && names[0] != "rule" {
		return ""
	}
	return "ip " + names[0] + " " + texts.ClipBytes(names[1], 40) + " may change the network"
}

func tailOperands(_ *analyser, c *call) string {
	if c.has("--pid") {
		return "tail --pid waits for another process"
	}
	return ""
}

// diffFolders refuses to print every file of two folders.
func diffFolders(_ *analyser, c *call) string {
	if c.has("-r", "--recursive", "-N", "--new-file") && !c.has("-q", "--brief") {
		return "diff -r prints every file, which may hold secrets"
	}
	return ""
}

func batCheck(_ *analyser, c *call) string {
	for _, w := range c.values("--paging") {
		if s, _ := w.lit(); s == "never" {
			return ""
		}
	}
	if c.has("-p", "--plain") && len(c.words) > 0 {
		if s, _ := c.words[0].lit(); strings.HasPrefix(s, "-pp") {
			return ""
		}
	}
	return c.spec.name + " may start a pager; with --paging=never it only reads"
}

func tarCheck(_ *analyser, c *call) string {
	for _, w := range append(c.values("-f", "--file"), c.rest...) {
		if s, ok := w.lit(); !ok || strings.Contains(s, ":") {
			return "tar gets an archive with a colon in its name from another machine"
		}
	}
	if first := c.first(); strings.HasPrefix(first, "t") && strings.Trim(first, "tvzjJf") == "" ||
		strings.HasPrefix(first, "-") && c.has("-t", "--list") {
		return ""
	}
	return "tar without -t in its first word may write files"
}

func unzipCheck(_ *analyser, c *call) string {
	if c.has("-l", "-Z", "-v", "-t") && strings.HasPrefix(c.first(), "-") {
		return ""
	}
	return "unzip without -l in its first word writes files"
}

func arCheck(_ *analyser, c *call) string {
	if slices.Contains([]string{"t", "tv", "-t", "-tv"}, c.first()) {
		return ""
	}
	return "ar without t in its first word may write files"
}

// jqCheck allows a program that reads neither the environment nor other files.
func jqCheck(a *analyser, c *call) string {
	if len(c.rest) == 0 {
		return c.spec.name + " without a program"
	}
	if s, _ := c.rest[0].lit(); c.spec.name == "yq" && (s == "e" || s == "eval" || s == "ea" || s == "shell-completion") {
		return "yq " + s + " is not known to only read"
	}
	program, ok := c.rest[0].lit()
	if !ok || texts.HasAny(program, "env", "input_filename", "import", "include", "load", "system", "eval", "$__") {
		return "the program of " + c.spec.name + " may read more than its input"
	}
	for _, w := range c.rest[1:] {
		if why := a.folders.reads(w); why != "" {
			return why
		}
	}
	return ""
}
