package shell

import (
	"regexp"
	"slices"
	"strings"
)

// endsAll returns the harm of ending all processes, or all of a user; "" for none.
func endsAll(name string, words []arg) string {
	if name == "kill" {
		if slices.Contains(killed(words), "-1") {
			return "kill of -1 ends all processes"
		}
		if slices.ContainsFunc(words, func(w arg) bool { return everyPid.MatchString(w.src) }) {
			return "kill ends all processes"
		}
		return ""
	}
	var names []arg
	user := false
	for i := 1; i < len(words); i++ {
		s, known := words[i].lit()
		switch {
		case known && (s == "-u" || s == "-U" || s == "--euid" || s == "--uid" || s == "--user"):
			user = true
			i++
		case known && slices.Contains(strings.Fields("-s --signal -g -G -P -t -F --parent --terminal --pgroup --group --ns -y -o"), s):
			i++
		case known && len(s) > 2 && (strings.HasPrefix(s, "-u") || strings.HasPrefix(s, "-U")), known && strings.HasPrefix(s, "--euid="), known && strings.HasPrefix(s, "--uid="), known && strings.HasPrefix(s, "--user="):
			user = true
		case known && strings.HasPrefix(s, "-") && s != "-":
		default:
			names = append(names, words[i])
		}
	}
	if user && len(names) == 0 {
		return name + " ends all processes of a user"
	}
	pattern := name == "pkill" || given(words, "-r --regexp")
	for _, w := range names {
		if text := w.vals[0].text; pattern && !w.dynamic() && strings.Trim(bracketRegexp.ReplaceAllLiteralString(unescape(text), ""), ".*+?^$()") == "" {
			return name + " with a pattern that matches everything ends all processes"
		}
	}
	if name == "pkill" && given(words, "-v --inverse") {
		return "pkill -v ends all other processes"
	}
	return ""
}

// everyPid matches substitutions that give the numbers of all processes, of one user at least.
var everyPid = regexp.MustCompile("^\"?(\\$\\(|`)(ps +(-e|-A|ax|aux|-ef|-ax)\\b[^|]*|pgrep +(-[uU] *\\S+|\\.|''|\"\"))(\\)|`)\"?$")

// column matches programs of awk that print a column of every line.
var column = regexp.MustCompile(`^ *\{ *print +\$[0-9]+ *;? *\} *$`)

// listsAll reports whether commands of a pipe print the numbers of all processes, of one user at
// least.
func listsAll(left []Command) bool {
	if len(left) == 0 {
		return false
	}
	words := append([]arg{literalArg(left[0].Name())}, arguments(left[0])...)
	switch left[0].Name() {
	case "ps":
		if short(words, "pCuUtgGs", "--p") {
			return false
		}
	case "pgrep":
		if endsAll("pkill", words) == "" {
			return false
		}
	default:
		return false
	}
	for _, c := range left[1:] {
		awk := len(c.Argv) == 2 && strings.HasSuffix(c.Name(), "awk") && column.MatchString(c.Argv[1].Text)
		if !awk && !slices.Contains(passers, c.Name()) {
			return false
		}
	}
	return true
}

// killed returns what kill is given besides the signal.
func killed(words []arg) []string {
	var out []string
	for i := 1; i < len(words); i++ {
		s, _ := words[i].lit()
		switch {
		case i == 1 && (s == "-l" || s == "-L" || s == "--list" || s == "--table"):
			return nil
		case i == 1 && (s == "-s" || s == "-n" || s == "--signal"):
			i++
		case s == "--":
		case i == 1 && strings.HasPrefix(s, "-") && len(words) > 2: // the signal
		default:
			out = append(out, s)
		}
	}
	if len(words) == 2 && slices.Contains(out, "-1") { // kill -1 lacks its process
		return nil
	}
	return out
}
