package shell

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"buddy/texts"
)

// Match says whether a command matches a rule.
type Match int

// The answers, in ascending order.
const (
	No    Match = iota
	Maybe       // a deciding word is known only at run time
	Yes
)

var programNamed = sync.OnceValue(func() map[string]*program {
	m := make(map[string]*program, 200)
	for i := range programs {
		p := &programs[i]
		for _, name := range append(strings.Fields(p.also), p.name) {
			m[name] = p
		}
	}
	return m
})

// versionRegexp matches a version suffix of a program name: python3.12, pip3.11.
var versionRegexp = texts.Regexp(`^([a-z]+)[0-9]+(\.[0-9]+)+$`)

var noProgram program

// programOfName returns the row of a program by the base of its name, or an empty one.
func programOfName(base string) *program {
	if p := programNamed()[base]; p != nil {
		return p
	}
	if base != "" && base[len(base)-1] >= '0' && base[len(base)-1] <= '9' {
		if m := versionRegexp().FindStringSubmatch(base); m != nil && programNamed()[m[1]] != nil {
			return programNamed()[m[1]]
		}
	}
	return &noProgram
}

// Begins reports whether c starts with a rule's prefix, however it is spelled: with any path or other name of the
// program, options before the subcommand, and synonyms of the subcommand. An option in the prefix may be anywhere in c.
// So [git push] also matches git -C x push, /usr/bin/git push and git-push, and [rm -rf] matches rm -f -r x. Use Begins
// for rules that ask or deny: an allowed command must be spelled like its rule.
func (c Command) Begins(prefix []string) Match {
	if len(prefix) == 0 || len(c.Argv) == 0 {
		return No
	}
	best := No
	for _, by := range c.Via { // sudo apt: first the wrapper, then the command
		if by, _, _ := strings.Cut(by, " "); by == prefix[0] {
			if len(prefix) == 1 {
				return Yes
			}
			best = max(best, c.Begins(prefix[1:]))
		}
	}
	for _, spelling := range spellings(prefix) {
		best = max(best, beginsAs(c.Argv, spelling))
	}
	if best == Yes {
		return best
	}
	for _, rest := range append(carried(c.Argv), aliased(c.Argv)...) {
		for _, spelling := range spellings(prefix) {
			best = max(best, beginsAs(rest, spelling))
		}
	}
	return best
}

// spellings returns the prefixes that mean the same as prefix, because of synonyms for subcommands.
func spellings(prefix []string) [][]string {
	all := [][]string{prefix}
	same := programOfName(path.Base(prefix[0])).same
	for _, back := range []bool{false, true} {
		for pair := range strings.SplitSeq(same, ", ") {
			left, right, ok := strings.Cut(pair, "=")
			from, to := strings.Fields(left), strings.Fields(right)
			if back {
				from, to = to, from
			}
			for _, one := range all {
				if rest := one[1:]; ok && len(from) <= len(rest) && slices.Equal(rest[:len(from)], from) {
					all = append(all, slices.Concat(one[:1], to, rest[len(from):]))
				}
			}
		}
	}
	return all
}

// carried returns the commands that argv may run if its program runs another one, including wrappers whose options are
// unknown.
func carried(argv []Arg) [][]Arg {
	name := path.Base(argv[0].Text)
	p := programOfName(name)
	from := 1
	switch {
	case wrappers[name] != nil && name != "find", p.carries == "*":
	case p.carries == "":
		return nil
	default:
		from = 1 + slices.IndexFunc(argv, func(w Arg) bool { return slices.Contains(strings.Fields(p.carries), w.Text) })
		if from == 0 {
			return nil
		}
	}
	var all [][]Arg
	for i := from; i < len(argv); i++ {
		all = append(all, argv[i:])
		if words := fieldsOf(argv[i].Text); len(words) > 0 && strings.Contains(argv[i].Text, " ") && !argv[i].Dynamic { // docker run x sh -c 'git push'
			all = append(all, words)
		}
	}
	return all
}

// aliased returns the git commands that aliases defined in argv's options stand for.
func aliased(argv []Arg) [][]Arg {
	var all [][]Arg
	for _, w := range argv[1:] {
		_, alias, ok := strings.Cut(w.Text, "alias.")
		if _, text, set := strings.Cut(alias, "="); ok && set {
			all = append(all, append([]Arg{argv[0]}, fieldsOf(text)...))
		}
	}
	return all
}

func fieldsOf(text string) []Arg {
	var words []Arg
	for s := range strings.FieldsSeq(text) {
		words = append(words, Arg{Text: s})
	}
	return words
}

// beginsAs reports whether a command starts with one spelling of a prefix.
func beginsAs(argv []Arg, prefix []string) Match {
	if argv[0].Dynamic {
		return Maybe
	}
	p := programOfName(path.Base(prefix[0]))
	rest, ok := named(p, argv, prefix[0])
	if !ok {
		return No
	}
	best := Yes
	var words []string
	for _, w := range prefix[1:] {
		if len(w) < 2 || w[0] != '-' {
			words = append(words, w)
			continue
		}
		best = min(best, hasOption(path.Base(prefix[0]), rest, w))
	}
	if best == No {
		return No
	}
	return min(best, follows(p, rest, words))
}

// named returns the words after the program's name if it means first, the first word of a prefix. A subcommand that is
// part of the name, as in git-push, becomes the first of these words.
func named(p *program, argv []Arg, first string) (rest []Arg, ok bool) {
	name, want := argv[0], path.Base(first)
	base := path.Base(name.Text)
	rest = argv[1:]
	_, part, dashed := strings.Cut(base, "-")
	switch {
	case name.Text == first, name.Pattern && matches(base, want), base == want && (want == first || baseName(first) == want):
		return rest, true
	case p.name == "":
		return nil, false
	case programOfName(base) == p && sameProgram(base, want):
		if dashed && programNamed()[base] != nil { // docker-compose
			rest = slices.Concat([]Arg{{Text: part}}, rest)
		}
		return rest, true
	case strings.HasPrefix(base, want+"-") && (p.name == want || p.hosts && p.valued == ""): // git-push, rsync-ssl
		return slices.Concat([]Arg{{Text: base[len(want)+1:]}}, rest), true
	}
	return nil, false
}

// sameProgram reports whether two names mean the same program: python3 and python do, podman and docker don't.
func sameProgram(base, want string) bool {
	if base == want {
		return true
	}
	plain := func(s string) string { return strings.TrimRight(s, "0123456789.") }
	if plain(base) == plain(want) {
		return true
	}
	first, _, ok := strings.Cut(base, "-")
	return ok && first == want && programNamed()[want] != nil
}

// hasOption reports whether a command has an option under any of its names. The letters of an option such as -rf may be
// in several words.
func hasOption(program string, words []Arg, option string) Match {
	left, best := optionNames(program, option), No
	for _, w := range words {
		switch {
		case w.Dynamic:
			best = Maybe
		case w.Text == option || strings.HasPrefix(w.Text, option+"="):
			return Yes
		}
		left = slices.DeleteFunc(left, func(same []string) bool { return isOption(w.Text, same) })
	}
	if len(left) == 0 {
		return Yes
	}
	return best
}

// optionNames returns the names of an option, without dashes. For combined letters, it returns one list per letter. The
// list is empty for a long option without synonyms, because it is compared as written.
func optionNames(program, option string) (all [][]string) {
	long, isLong := strings.CutPrefix(option, "--")
	given := []string{long}
	if !isLong {
		given = strings.Split(option[1:], "")
	}
	groups := strings.Fields(sameOptions[program])
	for _, name := range given {
		var same []string
		for _, group := range groups {
			if names := strings.Split(group, "="); slices.Contains(names, name) {
				same = names
			}
		}
		if same == nil && !isLong {
			same = []string{name}
		}
		all = append(all, same)
	}
	return all
}

// isOption reports whether a word is an option with one of the names: a letter, possibly combined with others, or a
// full or abbreviated name after two dashes.
func isOption(word string, names []string) bool {
	long, isLong := strings.CutPrefix(word, "--")
	long, _, _ = strings.Cut(long, "=")
	return len(word) > 1 && word[0] == '-' && slices.ContainsFunc(names, func(name string) bool {
		if isLong {
			return len(name) > 1 && long != "" && strings.HasPrefix(name, long)
		}
		return len(name) == 1 && strings.Contains(word, name)
	})
}

// follows reports whether words start with the words of a prefix when options are skipped. An unknown option is tried
// both with and without a value.
func follows(p *program, words []Arg, prefix []string) Match {
	at, best := map[int]bool{0: true}, No // possible indexes of the next word of the prefix
	for _, want := range prefix {
		next := make(map[int]bool)
		for i, word := range words {
			switch {
			case !at[i]:
			case word.Dynamic:
				best = Maybe
			case p.means(word, want):
				next[i+1] = true
			case p.plus && strings.HasPrefix(word.Text, "+"):
				at[i+1] = true
			case len(word.Text) > 1 && word.Text[0] == '-':
				alone, valued := p.value(word.Text)
				at[i+1], at[i+2] = at[i+1] || alone, at[i+2] || valued
			}
		}
		at = next
	}
	if len(at) > 0 {
		return Yes
	}
	return best
}

// means reports whether a word equals the prefix word want, or whether the shell or the program may expand it to want.
func (p *program) means(word Arg, want string) bool {
	return word.Text == want || word.Pattern && matches(word.Text, want) || p.short && len(word.Text) > 1 && strings.HasPrefix(want, word.Text)
}

// value reports whether an option can be used without the next word (alone), and whether the next word may be its value
// (valued).
func (p *program) value(option string) (alone, valued bool) {
	name, _, attached := strings.Cut(option, "=")
	alone = attached || slices.Contains(strings.Fields(p.plain), name)
	return alone || !slices.Contains(strings.Fields(p.valued), name), !alone
}

// Reaches reports whether a command names a host for which fits returns true.
func (c Command) Reaches(fits func(host string) bool) Match {
	computed := func(w Arg) bool { return w.Dynamic }
	switch {
	case slices.ContainsFunc(c.hosts(), fits):
		return Yes
	case programOfName(path.Base(c.Name())).hosts && slices.ContainsFunc(c.Argv, computed):
		return Maybe
	}
	return No
}

// hosts returns the possible hosts in a command, as [HostNames] returns them: in URLs, in addresses such as
// user@host:path and, for programs that use the network, in every word.
func (c Command) hosts() []string {
	var all []string
	p := programOfName(path.Base(c.Name()))
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		text := w.Text
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		urls := urlRegexp().FindAllString(text, 20)
		if p.hosts && (p.name != "git" || !strings.Contains(text, " ")) || strings.Contains(text, "@") && !strings.Contains(text, " ") {
			urls = append(urls, text, strings.TrimLeft(text, "-hHJx"))
		}
		if rest, ok := strings.CutPrefix(text, "/dev/tcp/"); ok {
			urls = append(urls, rest)
		}
		for _, u := range urls {
			for piece := range strings.FieldsFuncSeq(u, func(r rune) bool { return strings.ContainsRune(" ,:=@[]'\"()", r) }) {
				host, _, _ := strings.Cut(strings.TrimLeft(piece, "/"), "/")
				all = append(all, HostNames(host)...)
			}
		}
	}
	return all
}

var urlRegexp = texts.Regexp(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s'"<>|,;]+`)
