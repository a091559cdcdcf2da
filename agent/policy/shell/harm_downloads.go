package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fetched reports whether one of the recorded commands from index before on downloads something.
func (r *Report) fetched(before int) bool {
	return slices.ContainsFunc(r.Commands[min(before, len(r.Commands)):], func(c Command) bool {
		return slices.Contains(fetchers, c.Name())
	})
}

// readsProgram reports whether c executes its standard input.
func (c Command) readsProgram() bool {
	switch name := c.Name(); {
	case name == "source" || name == ".":
		return len(c.Argv) > 1 && isStdin(c.Argv[1].Text)
	case name == "at" || name == "batch" || name == "ssh" && len(c.Argv) == 2:
		return true
	case !slices.Contains(interpreters, name):
		return false
	}
	shell := slices.Contains(shells, c.Name())
	return shell && slices.Contains(c.Via, "xargs") || c.readsInput(shell)
}

// readsInput reports whether an interpreter (shell: a shell) reads its program from its standard input.
func (c Command) readsInput(shell bool) bool {
	for i := 1; i < len(c.Argv); i++ {
		s := c.Argv[i].Text
		letters, dash := strings.CutPrefix(s, "-")
		switch {
		case isStdin(s), shell && dash && letters[0] != '-' && strings.Contains(letters, "s"):
			return true
		case !dash || givesProgram(s):
			return false
		case strings.HasSuffix(letters, "o") || strings.HasSuffix(letters, "O"):
			i++ // bash -o pipefail
		}
	}
	return true
}

// givesProgram reports whether a flag of an interpreter supplies a program, or prevents running one.
func givesProgram(flag string) bool {
	if strings.HasPrefix(flag, "--") {
		return flag == "--version" || flag == "--help"
	}
	return flag == "-V" || strings.ContainsAny(flag, "cermjp") && flag != "-re"
}

func isStdin(s string) bool {
	return slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, s)
}

// fetchRuns records harm if one of the words, which are executed, contains the output of a download.
func (r *Report) fetchRuns(words []arg) {
	for _, w := range words {
		if w.fetches {
			r.harm(runsUnseen, readFirst)
		}
	}
}

// downloads remembers the files that a command downloads, and records harm if the command executes such a file.
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

// runsWritten analyses a file that is executed, if the same script wrote it.
func runsWritten(a *analyser, reader string, file arg) {
	s, ok := file.lit()
	text := a.folders.written[path.Base(s)]
	if !ok || text == "" {
		return
	}
	delete(a.folders.written, path.Base(s)) // a script that runs itself
	runsText(a, reader, text, []string{reader})
}

// download records that a file comes from the network.
func (d *folders) download(file string) {
	if base := path.Base(path.Clean(file)); base != "." && base != "/" && base != "-" && !strings.HasPrefix(file, "/dev/") {
		d.downloads[base] = true
	}
}

// downloaded reports whether a word names a file that an earlier command of the script downloads.
func (d *folders) downloaded(w arg) bool {
	if len(d.downloads) == 0 {
		return false
	}
	if w.dynamic() && d.downloads[path.Base(w.src)] {
		return true
	}
	return slices.ContainsFunc(w.vals, func(v val) bool { return v.kind != pattern && d.downloads[path.Base(v.text)] })
}

// saved returns the files that a download program writes.
func saved(name string, words []arg) []string {
	letter, remote := "o", name == "wget" || name == "aria2c"
	if name == "wget" {
		letter = "O"
	}
	var files, urls []string
	for i := 1; i < len(words); i++ {
		s, next := spelled(words[i]), ""
		if i+1 < len(words) {
			next = spelled(words[i+1])
		}
		switch file, used, ok := savedTo(s, next, letter); {
		case ok:
			files = append(files, file)
			i += used
		case strings.HasPrefix(s, "--remote-name"), name == "curl" && cluster(s) && strings.Contains(s, "O"):
			remote = true
		case !strings.HasPrefix(s, "-"):
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

// spelled returns the value of a word or, if it is unknown, its source: equal sources name the same file.
func spelled(w arg) string {
	if v := w.vals[0]; len(w.vals) == 1 && (v.kind == literal || v.kind == pattern) { // a URL with a question mark
		return unescape(v.text)
	}
	return w.src
}

func cluster(s string) bool { return len(s) > 1 && s[0] == '-' && s[1] != '-' }

// savedTo returns the file to which a flag s of a download program saves, and how many of the next words belong to the
// flag. letter is the flag's short form, which may end a cluster of flags.
func savedTo(s, next, letter string) (file string, used int, ok bool) {
	long, value, attached := strings.Cut(s, "=")
	at := strings.Index(s, letter)
	switch {
	case slices.Contains([]string{"--output", "--output-document", "--out"}, long) && attached:
		return value, 0, true
	case slices.Contains([]string{"--output", "--output-document", "--out"}, long), cluster(s) && at == len(s)-1:
		return next, 1, true
	case cluster(s) && at > 0:
		return s[at+1:], 0, true
	}
	return "", 0, false
}

// pipes records the harm that the right side of a pipe does with the output of the left side: it runs a download or a
// written-out text, or destroys the files that the output names. The commands recorded from before to middle are the
// left side.
func pipes(a *analyser, right *syntax.Stmt, before, middle int) {
	all := a.rep.Commands
	producers := slices.Clone(all[min(before, len(all)):min(middle, len(all))])
	fetched := slices.ContainsFunc(producers, func(c Command) bool {
		return slices.Contains(fetchers, c.Name()) || slices.ContainsFunc(arguments(c), a.folders.downloaded)
	})
	for _, c := range slices.Clone(all[min(middle, len(all)):]) {
		if fetched {
			fetchedInto(a, c)
		}
		if text, ok := printed(producers); ok && c.readsProgram() {
			runsText(a, c.Name(), text, append(slices.Clone(c.Via), c.Name()))
		}
		if slices.ContainsFunc(c.Via, func(v string) bool { return v == "xargs" || v == "parallel" }) {
			givesNames(a, producers, c)
		}
	}
	for _, r := range right.Redirs { // curl x | gunzip > y
		if r.Word != nil && fetched && r.Op != syntax.RdrIn {
			a.folders.download(r.Word.Lit())
		}
	}
}

// fetchedInto records the harm of a command that executes the download that it reads, or the files into which it saves
// it.
func fetchedInto(a *analyser, c Command) {
	switch name := c.Name(); {
	case c.readsProgram(), name == "", name == "eval" && slices.ContainsFunc(c.Argv, func(w Arg) bool { return w.Dynamic }):
		a.rep.harm(runsUnseen, readFirst)
	case name == "tee", name == "dd", name == "sponge":
		for _, w := range c.Argv[1:] {
			a.folders.download(strings.TrimPrefix(w.Text, "of="))
		}
	}
}

// arguments returns the words after a command's name, converted back to args.
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

// printed returns the output of a pipe if it is known: one echo or printf, and filters that pass on all of their input.
func printed(producers []Command) (string, bool) {
	text, n := "", 0
	for _, c := range producers {
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

// formatted returns the output of printf as one word, with %s replaced.
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

// givesNames records the harm of c if it destroys the files or processes that the left side of the pipe lists.
func givesNames(a *analyser, producers []Command, c Command) {
	if c.Name() == "kill" && listsAll(producers) {
		a.rep.harm("kill ends all processes", doItByHand)
	}
	if !slices.Contains(destroyers, c.Name()) || len(producers) == 0 {
		return
	}
	if slices.ContainsFunc(producers[1:], func(other Command) bool { return !slices.Contains(passers, other.Name()) }) {
		return
	}
	d, list := &a.folders, arguments(producers[0])
	root := ""
	switch producers[0].Name() {
	case "echo", "printf":
		a.rep.harm(d.removes(append([]arg{literalArg("rm"), literalArg("-r")}, list...)), "")
	case "find":
		root = findsAll(d, append([]arg{literalArg("find")}, list...))
	case "ls":
		root = listsVital(d, append([]arg{literalArg("ls")}, list...))
	}
	if root != "" {
		a.rep.harm(c.Name()+" destroys the files in "+root, "")
	}
}

// listsVital returns the vital folder that ls lists in a form in which another command can destroy its files, or "".
func listsVital(d *folders, words []arg) string {
	for _, w := range orHere(operandsOf(words)) {
		if d.isVital(w) && (given(words, "-d --directory") || d.at != "" && d.vital(escape(d.at))) {
			return w.src
		}
	}
	return ""
}
