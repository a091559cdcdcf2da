package shell

import (
	"cmp"
	"slices"
	"strings"

	"buddy/texts"
)

// findTests are the words of find that only select or print, with the number of words that
// follow.
var findTests = map[string]int{
	"-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-iwholename": 1, "-regex": 1, "-iregex": 1, "-regextype": 1,
	"-type": 1, "-xtype": 1, "-size": 1, "-mtime": 1, "-mmin": 1, "-atime": 1, "-amin": 1, "-ctime": 1, "-cmin": 1, "-newer": 1,
	"-newermt": 1, "-newerct": 1, "-anewer": 1, "-cnewer": 1, "-user": 1, "-group": 1, "-uid": 1, "-gid": 1, "-perm": 1, "-links": 1,
	"-inum": 1, "-samefile": 1, "-lname": 1, "-ilname": 1, "-fstype": 1, "-maxdepth": 1, "-mindepth": 1, "-printf": 1, "-used": 1,
	"-empty": 0, "-executable": 0, "-readable": 0, "-writable": 0, "-nouser": 0, "-nogroup": 0, "-true": 0, "-false": 0,
	"-prune": 0, "-quit": 0, "-print": 0, "-print0": 0, "-ls": 0, "-depth": 0, "-d": 0, "-mount": 0, "-xdev": 0, "-daystart": 0,
	"-follow": 0, "-noleaf": 0, "-ignore_readdir_race": 0, "-noignore_readdir_race": 0, "-warn": 0, "-nowarn": 0,
	"-a": 0, "-and": 0, "-o": 0, "-or": 0, "-not": 0, "!": 0, "(": 0, ")": 0, ",": 0,
}

// wrapFind judges find and the commands that it runs.
func wrapFind(a *analyser, words []arg, via []string, _ input) bool {
	if len(words) == 2 {
		if s, _ := words[1].lit(); s == "--version" || s == "--help" {
			a.record(words, via, Reads, "find only reads: it prints help")
			return true
		}
	}
	i, why := a.folders.findFolders(words)
	if why != "" {
		a.record(words, via, Unknown, why)
		return true
	}
	if why := a.findExpression(words[i:], append(slices.Clone(via), "find -exec")); why != "" {
		e := Writes
		if strings.Contains(why, "delete") {
			e = Deletes
		}
		a.record(words, via, e, why)
		return true
	}
	a.record(words, via, Reads, "find only reads: it lists files")
	return false
}

// findFolders judges the words before the expression and returns its start.
func (d *folders) findFolders(words []arg) (int, string) {
	i := 1
	for i < len(words) { // -L, -H, -P before the folders
		if s, _ := words[i].lit(); s != "-L" && s != "-H" && s != "-P" && s != "-E" {
			break
		}
		i++
	}
	for ; i < len(words); i++ {
		w := words[i]
		if s, known := w.lit(); known && (s == "" || strings.IndexByte("-!(", s[0]) >= 0) {
			break
		}
		if w.dash() || w.split && !w.oneWord() {
			return i, "a word of find is known only when it runs: " + texts.ClipBytes(w.src, 60)
		}
		if why := cmp.Or(d.lists(w), shown(w)); why != "" {
			return i, why
		}
	}
	return i, ""
}

func (a *analyser) findExpression(words []arg, via []string) string {
	for i := 0; i < len(words); i++ {
		s, known := words[i].lit()
		if !known {
			return "a word of find is known only when it runs: " + texts.ClipBytes(words[i].src, 60)
		}
		n, ok := findTests[s]
		switch s {
		case "-exec":
			end := a.findExec(words[i+1:], via)
			if end < 0 {
				return "find -exec without an end"
			}
			i += 1 + end
			continue
		case "-execdir", "-ok", "-okdir":
			a.findExec(words[i+1:], via)
			return "find " + s + " runs a command in other folders or asks the terminal"
		case "-delete":
			return "find -delete deletes files"
		}
		if !ok || i+n >= len(words) {
			return "find " + texts.ClipBytes(s, 40) + " is not known to only read"
		}
		if i += n; n == 1 {
			if why := a.folders.findValue(s, words[i]); why != "" {
				return why
			}
		}
	}
	return ""
}

// findValue returns why the value of a test can't be judged, or "".
func (d *folders) findValue(test string, w arg) string {
	if w.split || len(w.vals) > 1 || w.vals[0].kind == pattern || w.odd {
		return "a word of find may become several: " + texts.ClipBytes(w.src, 60)
	}
	if slices.Contains([]string{"-newer", "-anewer", "-cnewer", "-samefile"}, test) {
		if why := d.lists(w); why != "" {
			return why
		}
	}
	return shown(w)
}

// findExec judges the command of -exec and returns its end, or -1.
func (a *analyser) findExec(words []arg, via []string) int {
	for i, w := range words {
		s, _ := w.lit()
		if s != ";" && (s != "+" || i == 0 || words[i-1].src != "{}") {
			continue
		}
		if i == 0 {
			return -1
		}
		item := arg{vals: []val{{kind: output, names: names{noDash: true}}}, src: "{}"}
		a.command(replace(words[:i], "{}", item), via, input{})
		return i
	}
	return -1
}

// findPrints returns what is known about the names that find prints.
func findPrints(words []arg) names {
	n := names{noDash: true}
	for _, w := range words[1:] {
		switch s, _ := w.lit(); s {
		case "-printf", "-ls", "-exec", "-print":
			return names{}
		case "-print0":
			n.nul = true
		}
	}
	n.noDash = n.nul // a name may contain a newline
	return n
}
