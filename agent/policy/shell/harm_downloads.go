package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fetched reports whether one of the commands from index before on downloads.
func (r *Report) fetched(before int) bool {
	return slices.ContainsFunc(r.Commands[min(before, len(r.Commands)):], func(c Command) bool {
		return slices.Contains(fetchers, c.Name())
	})
}

// readsProgram reports whether c executes its input.
func (c Command) readsProgram() bool {
	if c.Name() == "source" || c.Name() == "." {
		return len(c.Argv) > 1 && isStdin(c.Argv[1].Text)
	}
	if c.Name() == "at" || c.Name() == "batch" || c.Name() == "ssh" && len(c.Argv) == 2 {
		return true
	}
	if !slices.Contains(interpreters, c.Name()) {
		return false
	}
	if slices.Contains(c.Via, "xargs") && slices.Contains(shells, c.Name()) {
		return true
	}
	for i := 1; i < len(c.Argv); i++ {
		s := c.Argv[i].Text
		letters, dash := strings.CutPrefix(s, "-")
		switch {
		case isStdin(s):
			return true
		case !dash:
			return false
		case s == "--version" || s == "-V" || s == "--help":
			return false
		case strings.HasPrefix(s, "--"):
		case strings.Contains(letters, "s") && slices.Contains(shells, c.Name()):
			return true
		case strings.ContainsAny(letters, "cermjp") && letters != "re":
			return false
		case strings.HasSuffix(letters, "o") || strings.HasSuffix(letters, "O"):
			i++
		}
	}
	return true
}

func isStdin(s string) bool {
	return slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, s)
}

// fetchRuns records a program that is downloaded and executed at once.
func (r *Report) fetchRuns(words []arg) {
	for _, w := range words {
		if w.fetches {
			r.harm(runsUnseen, readFirst)
		}
	}
}

// downloads follows files that a program downloads and records that one of them is executed.
func downloads(a *analyser, name string, words []arg) {
	d := &a.folders
	switch {
	case slices.Contains(fetchers, name):
		for _, file := range saved(name, words) {
			d.download(file)
			a.rep.harm(overwritten(d, name, literalArg(file)), "")
		}
	case slices.Contains([]string{"mv", "cp", "install", "ln", "gunzip", "zcat"}, name):
		list := operandsOf(words)
		if len(list) > 1 && slices.ContainsFunc(list[:len(list)-1], d.downloaded) {
			if to, ok := list[len(list)-1].lit(); ok {
				d.download(to)
			}
		}
	case slices.Contains(interpreters, name), name == "source", name == ".":
		a.rep.fetchRuns(words)
		for _, w := range operandsOf(words) {
			if d.downloaded(w) {
				a.rep.harm(runsUnseen, readFirst)
			}
			runsWritten(a, name, w)
		}
	case words[0].fetches || d.downloaded(words[0]):
		a.rep.harm(runsUnseen, readFirst)
	default:
		runsWritten(a, "sh", words[0])
	}
}

// runsWritten analyses a file that the program itself wrote and executes now.
func runsWritten(a *analyser, reader string, file arg) {
	s, ok := file.lit()
	text := a.folders.written[path.Base(s)]
	if !ok || text == "" {
		return
	}
	delete(a.folders.written, path.Base(s)) // a script that runs itself
	runsText(a, reader, text, []string{reader})
}

// download notes that a file comes from the network.
func (d *folders) download(file string) {
	if base := path.Base(path.Clean(file)); base != "." && base != "/" && base != "-" && !strings.HasPrefix(file, "/dev/") {
		d.downloads[base] = true
	}
}

// downloaded reports whether a word names a file that was downloaded before.
func (d *folders) downloaded(w arg) bool {
	if len(d.downloads) == 0 {
		return false
	}
	if w.dynamic() && d.downloads[path.Base(w.src)] {
		return true
	}
	return slices.ContainsFunc(w.vals, func(v val) bool { return v.kind != pattern && d.downloads[path.Base(v.text)] })
}

// saved returns the files that a fetcher writes.
func saved(name string, words []arg) []string {
	out, remote := "o", name == "wget" || name == "aria2c"
	if name == "wget" {
		out = "O"
	}
	var files, urls []string
	for i := 1; i < len(words); i++ {
		s, ok := words[i].lit()
		if v := words[i].vals[0]; v.kind == pattern { // a URL with a question mark
			s, ok = unescape(v.text), true
		}
		next := ""
		if i+1 < len(words) {
			if next, _ = words[i+1].lit(); next == "" {
				next = words[i+1].src // a variable: the same word names the same file
			}
		}
		letters, dash := strings.CutPrefix(s, "-")
		at := strings.Index(letters, out)
		switch long, value, attached := strings.Cut(s, "="); {
		case !ok:
		case long == "--output" || long == "--output-document" || long == "--out":
			if !attached {
				value = next
				i++
			}
			files = append(files, value)
		case long == "--remote-name" || long == "--remote-name-all":
			remote = true
		case dash && !strings.HasPrefix(letters, "-") && at >= 0 && at == len(letters)-1:
			files = append(files, next)
			i++
		case dash && !strings.HasPrefix(letters, "-") && at >= 0:
			files = append(files, letters[at+1:])
		case dash && name == "curl" && !strings.HasPrefix(letters, "-") && strings.Contains(letters, "O"):
			remote = true
		case !dash:
			urls = append(urls, s)
		}
	}
	if remote && len(files) == 0 {
		for _, u := range urls {
			u, _, _ = strings.Cut(u, "?")
			u, _, _ = strings.Cut(u, "#")
			files = append(files, path.Base(u))
		}
	}
	return files
}

// pipes records what a pipe does with what its left side prints: runs a download, runs a text
// that is written out, gives names to a command that destroys.
func pipes(a *analyser, right *syntax.Stmt, before, middle int) {
	left := slices.Clone(a.rep.Commands[min(before, len(a.rep.Commands)):min(middle, len(a.rep.Commands))])
	fetched := a.rep.fetched(before) && slices.ContainsFunc(left, func(c Command) bool { return slices.Contains(fetchers, c.Name()) })
	fetched = fetched || slices.ContainsFunc(left, func(c Command) bool {
		return slices.ContainsFunc(arguments(c), a.folders.downloaded)
	})
	after := slices.Clone(a.rep.Commands[min(middle, len(a.rep.Commands)):])
	for _, c := range after {
		switch {
		case c.readsProgram():
			if fetched {
				a.rep.harm(runsUnseen, readFirst)
			}
			if text, ok := printed(left); ok {
				given := append(slices.Clone(c.Via), c.Name())
				runsText(a, c.Name(), text, given)
			}
		case fetched && (c.Name() == "" || c.Name() == "eval" && slices.ContainsFunc(c.Argv, func(w Arg) bool { return w.Dynamic })):
			a.rep.harm(runsUnseen, readFirst)
		case fetched && slices.Contains([]string{"tee", "dd", "sponge"}, c.Name()):
			for _, w := range c.Argv[1:] {
				a.folders.download(strings.TrimPrefix(w.Text, "of="))
			}
		case slices.Contains(c.Via, "xargs") || slices.ContainsFunc(c.Via, func(v string) bool { return strings.HasPrefix(v, "parallel") }):
			givesNames(a, left, c)
		}
	}
	for _, r := range right.Redirs { // curl x | gunzip > y
		if r.Word != nil && fetched && r.Op != syntax.RdrIn {
			a.folders.download(r.Word.Lit())
		}
	}
}

// arguments returns the words of a command after its name, as the analysis has them.
func arguments(c Command) []arg {
	var out []arg
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		v := val{text: w.Text}
		switch {
		case w.Dynamic:
			v.kind = dynamic
		case w.Pattern:
			v.kind = pattern
		}
		out = append(out, arg{vals: []val{v}, src: w.Text})
	}
	return out
}

// printed returns the text that commands print if they are echo or printf and filters that
// pass it on.
func printed(left []Command) (string, bool) {
	text, n := "", 0
	for _, c := range left {
		switch name := c.Name(); {
		case name == "echo" || name == "printf":
			n++
			given := arguments(c)
			if name == "printf" {
				given = formatted(given)
			}
			for i, w := range given {
				if w.dynamic() {
					return "", false
				}
				if i == 0 && isFlag(w) && name == "echo" {
					continue
				}
				text += w.vals[0].text + " "
			}
		case !slices.Contains(passers, name):
			return "", false
		}
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text), n == 1
}

// formatted returns the text that printf prints, as one word.
func formatted(given []arg) []arg {
	if len(given) < 2 || slices.ContainsFunc(given, arg.dynamic) {
		return given
	}
	text := given[0].vals[0].text
	for _, w := range given[1:] {
		if !strings.Contains(text, "%s") {
			text += " %s"
		}
		text = strings.Replace(text, "%s", strings.ReplaceAll(w.vals[0].text, "%s", ""), 1)
	}
	return []arg{literalArg(text)}
}

// givesNames records that names which commands print are given to one that destroys files.
func givesNames(a *analyser, left []Command, c Command) {
	if c.Name() == "kill" && listsAll(left) {
		a.rep.harm("kill ends all processes", doItByHand)
	}
	if !slices.Contains(destroyers, c.Name()) || len(left) == 0 {
		return
	}
	d := &a.folders
	for _, other := range left[1:] {
		if !slices.Contains(passers, other.Name()) {
			return
		}
	}
	list, root := arguments(left[0]), ""
	switch left[0].Name() {
	case "echo", "printf":
		a.rep.harm(d.removes(append([]arg{literalArg("rm"), literalArg("-r")}, list...)), "")
		return
	case "find":
		roots, expression := findRoots(d, append([]arg{literalArg("find")}, list...))
		root = findsAll(d, roots, expression)
	case "ls":
		words := append([]arg{literalArg("ls")}, list...)
		for _, w := range orHere(operandsOf(words)) {
			if d.isVital(w) && (short(words, "d", "--directory") || d.at != "" && d.vital(escape(d.at))) {
				root = w.src
			}
		}
	}
	if root != "" {
		a.rep.harm(c.Name()+" destroys what is in "+root, "")
	}
}
