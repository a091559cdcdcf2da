package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// isFlag reports whether a word is certainly a flag other than "-".
func isFlag(w arg) bool {
	s, ok := w.lit()
	return ok && len(s) > 1 && s[0] == '-'
}

func operandsOf(words []arg) []arg {
	var out []arg
	for i, w := range words[1:] {
		if s, ok := w.lit(); ok && s == "--" {
			return append(out, words[i+2:]...)
		}
		if !isFlag(w) {
			out = append(out, w)
		}
	}
	return out
}

// removes returns the harm of an rm that would erase vital folders or files, or "".
func (d *folders) removes(words []arg) string {
	if given(words, "--no-preserve-root") {
		return "rm --no-preserve-root erases everything"
	}
	recursive := given(words, "-r -R --rec*")
	for _, w := range operandsOf(words) {
		if recursive && d.isVital(w) {
			return "rm erases " + texts.ClipBytes(w.src, 60) + withAllInIt
		}
		for _, p := range d.places(w) {
			if i := strings.LastIndexByte(p, '/'); i > 0 && broad(p[i+1:]) && slices.Contains(systemFolders, p[:i]) {
				return "rm erases the files of " + p[:i]
			}
		}
		if file := vitalFile(d, w); file != "" {
			return "rm erases " + file + ", without which the machine does not work"
		}
	}
	return ""
}

// owns returns the harm of a chmod, chown or similar command in a vital folder, or "".
func (d *folders) owns(name string, words []arg) string {
	if !given(words, "-R --rec*") {
		return closes(d, name, words)
	}
	for _, w := range words[min(2, len(words)):] {
		if !isFlag(w) && d.isVital(w) {
			return name + " -R changes " + texts.ClipBytes(w.src, 60) + withAllInIt
		}
	}
	return ""
}

// closedRegexp matches file modes that take away rights which every user of a folder needs.
var closedRegexp = texts.Regexp(`^(0{1,4}|[au]*-[rwx]*[rx][rwx]*)$`)

// closes returns the harm of a chmod that makes a vital folder unusable, or "".
func closes(d *folders, name string, words []arg) string {
	list := words[1:]
	if name != "chmod" || len(list) < 2 {
		return ""
	}
	if mode, _ := list[0].lit(); !closedRegexp().MatchString(mode) {
		return ""
	}
	for _, w := range list[1:] {
		if d.isVital(w) {
			return "chmod closes " + texts.ClipBytes(w.src, 60)
		}
	}
	return ""
}

// overwrites returns the harm of a command that overwrites a disk or a vital file, or that moves a vital folder away.
// It returns "" for other commands.
func overwrites(d *folders, name string, words []arg) string {
	list := operandsOf(words)
	into, rest := destinations(name, words, list)
	for _, w := range into {
		if why := overwritten(d, name, w); why != "" {
			return why
		}
	}
	if name == "mv" || name == "shred" {
		for _, w := range rest {
			if d.isVital(w) {
				return name + " removes " + texts.ClipBytes(w.src, 60) + withAllInIt
			}
			if file := vitalFile(d, w); file != "" {
				return name + " removes " + file + ", without which the machine does not work"
			}
		}
	}
	return ""
}

// destinations returns the operands that a command writes to, and the others.
func destinations(name string, words, list []arg) (into, rest []arg) {
	switch name {
	case "dd":
		for _, w := range list {
			into = append(into, cutPrefix(w, "of=")...)
		}
		return into, nil
	case "tee", "sponge", "truncate":
		return list, nil
	case "sort":
		for i, w := range words[:len(words)-1] {
			if s, _ := w.lit(); s == "-o" {
				into = append(into, words[i+1])
			}
		}
		return into, nil
	case "shred":
		return list, list
	}
	for i, w := range words[1:] {
		s, _ := w.lit()
		if to, ok := strings.CutPrefix(s, "--target-directory="); ok {
			return []arg{literalArg(to)}, list
		}
		if s == "-t" && i+2 < len(words) {
			return words[i+2 : i+3], list
		}
	}
	if len(list) < 2 {
		return nil, list
	}
	return list[len(list)-1:], list[:len(list)-1]
}

// cutPrefix returns w without a prefix, or nothing if no value of w has the prefix.
func cutPrefix(w arg, prefix string) []arg {
	out := w
	out.vals, out.src = nil, strings.TrimPrefix(w.src, prefix)
	for _, v := range w.vals {
		if rest, ok := strings.CutPrefix(v.text, prefix); ok {
			v.text = rest
			out.vals = append(out.vals, v)
		}
	}
	if len(out.vals) == 0 {
		return nil
	}
	return []arg{out}
}

func overwritten(d *folders, name string, w arg) string {
	for _, p := range d.places(w) {
		switch p = unescape(p); {
		case blockDevice().MatchString(p):
			return name + " overwrites the device " + texts.ClipBytes(p, 60)
		case p == "/proc/sysrq-trigger":
			return name + " tells the kernel to stop the machine at once"
		}
	}
	if file := vitalFile(d, w); file != "" {
		return name + " overwrites " + file + ", without which the machine does not work"
	}
	return ""
}

// mirrors returns the harm of an rsync --delete or similar command in a vital folder, or "".
func mirrors(d *folders, name string, words []arg) string {
	list := operandsOf(words)
	if len(list) == 0 {
		return ""
	}
	last := list[len(list)-1]
	if name == "rclone" {
		if first, _ := list[0].lit(); slices.Contains([]string{"sync", "purge", "delete", "move"}, first) && d.isVital(last) {
			return "rclone " + first + " erases " + texts.ClipBytes(last.src, 60) + withAllInIt
		}
		return ""
	}
	if given(words, "--remove-source-files") && slices.ContainsFunc(list[:len(list)-1], d.isVital) {
		return "rsync --remove-source-files deletes the files in a folder that the machine needs"
	}
	if s, ok := last.lit(); ok { // host:/
		if host, p, remote := strings.Cut(s, ":"); remote && !strings.Contains(host, "/") {
			if last = literalArg(p); p == "" {
				last = literalArg("~")
			}
		}
	}
	if given(words, "--del*") && !given(words, "-n --dry-run") && d.isVital(last) {
		return "rsync --delete erases the files in " + texts.ClipBytes(last.src, 60)
	}
	return ""
}

// cleansHome returns the harm of a git clean in a home folder or at the root, or "".
func cleansHome(d *folders, words []arg) string {
	at, rest := d.at, words[1:]
	for len(rest) > 1 {
		s, _ := rest[0].lit()
		if s != "-C" {
			break
		}
		if places := d.places(rest[1]); len(places) == 1 {
			at = unescape(places[0])
		}
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return ""
	}
	first, _ := rest[0].lit()
	if first != "clean" || !given(rest, "-f --force") || given(rest, "-n --dry-run") || len(operandsOf(rest)) > 0 {
		return ""
	}
	if at != "" && d.vital(escape(at)) {
		return "git clean deletes the files in " + texts.ClipBytes(at, 60)
	}
	return ""
}

// findRoots returns the start folders of find, and the words of its expression.
func findRoots(words []arg) (roots, expression []arg) {
	for i, w := range words[1:] {
		s, _ := w.lit()
		switch {
		case slices.Contains([]string{"-L", "-H", "-P", "-E"}, s) && len(roots) == 0:
		case s != "" && strings.IndexByte("-!(", s[0]) >= 0:
			return orHere(roots), words[i+1:]
		default:
			roots = append(roots, w)
		}
	}
	return orHere(roots), nil
}

func orHere(roots []arg) []arg {
	if len(roots) == 0 {
		return []arg{literalArg(".")}
	}
	return roots
}

// findsAll returns the vital folder in which find would list almost all files, or "".
func findsAll(d *folders, words []arg) string {
	roots, expression := findRoots(words)
	for i := range expression {
		if narrows(expression, i) {
			return ""
		}
	}
	for _, w := range roots {
		if d.isVital(w) {
			return texts.ClipBytes(w.src, 60)
		}
	}
	return ""
}

// narrows reports whether word i of find's expression selects only some of the files.
func narrows(expression []arg, i int) bool {
	s, _ := expression[i].lit()
	if !slices.Contains(narrowing, s) {
		return false
	}
	if i > 0 {
		if not, _ := expression[i-1].lit(); not == "!" || not == "-not" {
			return false
		}
	}
	value := ""
	if i+1 < len(expression) {
		value = expression[i+1].vals[0].text
	}
	switch {
	case strings.Contains(s, "regex"):
		return strings.Trim(value, ".*^$/") != ""
	case strings.Contains(s, "name"), strings.Contains(s, "path"):
		return !broad(value[strings.LastIndexByte(value, '/')+1:])
	}
	return true
}

// findErases returns the harm of a find that would erase files in vital folders, or "".
func findErases(d *folders, words []arg) string {
	_, expression := findRoots(words)
	start := len(words) - len(expression)
	for i, w := range expression {
		s, _ := w.lit()
		deletes := s == "-delete"
		if slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, s) {
			deletes = destroys(expression[i+1:])
		}
		if !deletes {
			continue
		}
		if root := findsAll(d, words[:start+i]); root != "" {
			return "find deletes files, or changes their permissions, in " + root
		}
	}
	return ""
}

// destroys reports whether the command that find -exec or xargs runs destroys the files passed to it, itself or in a
// script for a shell.
func destroys(words []arg) bool {
	for _, w := range words {
		s, _ := w.lit()
		if s == ";" || s == "+" {
			return false
		}
		for word := range strings.FieldsSeq(s) {
			if slices.Contains(destroyers, baseName(word)) {
				return true
			}
		}
	}
	return false
}
