package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// endsAll returns the harm of ending all processes, or all processes of one user; "" if the command doesn't.
func endsAll(name string, words []arg) string {
	if name == "kill" {
		every := func(w arg) bool { return everyPid().MatchString(w.src) }
		if slices.Contains(killed(words), "-1") || slices.ContainsFunc(words, every) {
			return "kill ends all processes"
		}
		return ""
	}
	names, user := selected(words)
	if user && len(names) == 0 {
		return name + " ends all processes of a user"
	}
	if name == "pkill" && given(words, "-v --inverse") {
		return "pkill -v ends all other processes"
	}
	for _, w := range names {
		text := bracketRegexp().ReplaceAllLiteralString(unescape(w.vals[0].text), "")
		if (name == "pkill" || given(words, "-r --regexp")) && !w.dynamic() && strings.Trim(text, ".*+?^$()") == "" {
			return name + " with a pattern that matches everything ends all processes"
		}
	}
	return ""
}

// Flags of pkill, pgrep and killall that take a value. userFlags select the processes of a user.
var (
	userFlags  = strings.Fields("-u -U --euid --uid --user")
	otherFlags = strings.Fields("-s --signal -g -G -P -t -F --parent --terminal --pgroup --group --ns -y -o")
)

// selected returns the names and patterns passed to pkill and similar commands, and whether a user is given.
func selected(words []arg) (names []arg, user bool) {
	for i := 1; i < len(words); i++ {
		s, known := words[i].lit()
		flag, _, attached := strings.Cut(s, "=")
		switch {
		case !known || !strings.HasPrefix(s, "-") || s == "-":
			names = append(names, words[i])
		case slices.Contains(userFlags, flag):
			user = true
			if !attached {
				i++
			}
		case len(s) > 2 && slices.Contains(userFlags, s[:2]):
			user = true
		case slices.Contains(otherFlags, s):
			i++
		}
	}
	return names, user
}

// everyPid matches command substitutions that yield the numbers of all processes, or of all processes of one user.
var everyPid = texts.Regexp("^\"?(\\$\\(|`)(ps +(-e|-A|ax|aux|-ef|-ax)\\b[^|]*|pgrep +(-[uU] *\\S+|\\.|''|\"\"))(\\)|`)\"?$")

// column matches awk programs that print one column of every line.
var column = texts.Regexp(`^ *\{ *print +\$[0-9]+ *;? *\} *$`)

// listsAll reports whether the left side of a pipe prints the numbers of all processes, or of all processes of one
// user.
func listsAll(left []Command) bool {
	if len(left) == 0 {
		return false
	}
	words := append([]arg{literalArg(left[0].Name())}, arguments(left[0])...)
	switch left[0].Name() {
	case "ps":
		if given(words, "-p -C -u -U -t -g -G -s --p*") {
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
		awk := len(c.Argv) == 2 && strings.HasSuffix(c.Name(), "awk") && column().MatchString(c.Argv[1].Text)
		if !awk && !slices.Contains(passers, c.Name()) {
			return false
		}
	}
	return true
}

func killed(words []arg) []string {
	all := make([]string, 0, len(words))
	for _, w := range words[1:] {
		s, _ := w.lit()
		all = append(all, s)
	}
	switch {
	case len(all) < 2: // kill -1 lacks its process
		return nil
	case slices.Contains([]string{"-l", "-L", "--list", "--table"}, all[0]):
		return nil
	case slices.Contains([]string{"-s", "-n", "--signal"}, all[0]):
		return all[2:]
	case strings.HasPrefix(all[0], "-"): // the signal, or the end of flags
		return all[1:]
	}
	return all
}
