package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"buddy/agent/action"
	"buddy/agent/inject"
	"buddy/texts"
)

// width orders scopes, the widest first.
func (s Scope) width() int { return slices.Index(Scopes, s) }

// stance holds what an entry says about something: do it, don't, or do another thing instead.
type stance struct {
	about   string
	against bool
	instead string
}

var (
	not     = texts.Regexp("^(?i:not) `([^`]+)`(?: but |: ?)(.+)$")
	against = texts.Regexp(`^(?i:never|don't|don’t|do not|avoid|not)\b[ :]*`)
	favour  = texts.Regexp(`^(?i:please|always|prefer|use)\b[ :]*`)
)

// stanceOf reads the stance of an entry. What has none is about itself.
func stanceOf(text string) (s stance) {
	if m := not().FindStringSubmatch(text); m != nil {
		return stance{normal(m[1]), true, normal(m[2])}
	}
	for {
		if at := against().FindStringIndex(text); at != nil {
			s.against, text = true, text[at[1]:]
			continue
		}
		at := favour().FindStringIndex(text)
		if at == nil {
			break
		}
		text = text[at[1]:]
	}
	s.about = normal(text)
	return s
}

// normal returns a text as texts are compared.
func normal(s string) string {
	return strings.Trim(strings.ToLower(strings.ReplaceAll(texts.OneLine(s), "`", "")), " .!;:,")
}

// override finds entries that contradict each other: of one scope the newer holds, of two the one of the
// narrower, where an entry for some paths or a target is narrower than one for all. The project never
// overrides what the person says of all projects: a model is told both, and the person sees both.
func override(all []Entry) {
	stances, about := make([]stance, len(all)), make(map[string][]int, len(all))
	for i, e := range all {
		if e.Kind == Fact {
			continue
		}
		s := stanceOf(e.Text)
		stances[i] = s
		if group := about[s.about]; len(group) < maxGroup {
			about[s.about] = append(group, i)
		}
	}
	for _, group := range about {
		for n, i := range group {
			for _, j := range group[n+1:] {
				if stances[i].contradicts(stances[j]) && sameTarget(all[i], all[j]) {
					decide(&all[i], &all[j])
				}
			}
		}
	}
}

// maxGroup limits the entries about the same that are compared with each other, so that a file with
// thousands of them delays nobody.
const maxGroup = 200

// decide marks which of two entries that contradict each other holds, or that both are told.
func decide(a, b *Entry) {
	if holds(*b, *a) {
		a, b = b, a
	}
	if b.Scope == Person && a.Scope != Person {
		b.Opposed = cmp.Or(b.Opposed, a.ID)
		return
	}
	b.Overridden = cmp.Or(b.Overridden, a.ID)
}

// contradicts reports whether two stances about the same are opposite.
func (s stance) contradicts(other stance) bool {
	return s.against != other.against || s.instead != other.instead && s.instead != "" && other.instead != ""
}

// sameTarget reports whether there is a target for which both entries hold.
func sameTarget(a, b Entry) bool {
	x, y := a.Note.Target(), b.Note.Target()
	return x == y || x == "" || y == ""
}

// holds reports whether a holds rather than b. b comes after a in the files, or is later in one.
func holds(a, b Entry) bool {
	order := cmp.Or(
		cmp.Compare(a.Scope.width(), b.Scope.width()),
		cmp.Compare(limits(a), limits(b)),
		a.confirmed.Compare(b.confirmed),
		cmp.Compare(a.Line, b.Line),
	)
	return order > 0
}

func limits(e Entry) int {
	if e.unlimited() {
		return 0
	}
	return 1
}

func validGlob(glob string) bool {
	return glob != "" && !strings.ContainsAny(glob, ", ") && doublestar.ValidatePattern(glob)
}

// onTarget reports whether an entry that is limited to a target, which may be a glob, holds on one as
// actions name it: local, or root@web-02 (ssh).
func onTarget(limit, target string) bool {
	name, _, _ := strings.Cut(target, " (")
	_, host, at := strings.Cut(name, "@")
	return limit == "" || matches(limit, name) || at && matches(limit, host)
}

func matches(glob, name string) bool { return doublestar.MatchUnvalidated(glob, name) }

// maxAbout limits the entries that are shown beside an approval.
const maxAbout = 3

// About returns what the person taught about an action, for those who decide about it: entries that name
// a command which it runs, or whose paths or target it is of. It reads no file.
func (s *Store) About(act action.Action) (found []Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off != nil {
		return nil
	}
	for _, e := range s.active {
		if len(found) == maxAbout {
			break
		}
		if onTarget(e.Note.Target(), act.Target) && concerns(e, act) {
			found = append(found, e)
		}
	}
	return found
}

var quotedCode = texts.Regexp("`([^`]{2,})`")

// concerns reports whether an entry is about an action.
func concerns(e Entry, act action.Action) bool {
	paths := e.Note.Paths()
	for _, path := range append([]string{act.Path}, act.Paths...) {
		if path != "" && slices.ContainsFunc(paths, func(glob string) bool {
			return matches("**/"+strings.TrimPrefix(glob, "/"), strings.TrimPrefix(path, "/"))
		}) {
			return true
		}
	}
	if e.Kind == Fact || act.Command == "" || len(paths) > 0 {
		return false
	}
	for _, m := range quotedCode().FindAllStringSubmatch(e.Text, -1) {
		if hasWords(act.Command, m[1]) {
			return true
		}
	}
	return e.Note.Target() != ""
}

// hasWords reports whether a command has some words, side by side.
func hasWords(command, some string) bool {
	return strings.Contains(" "+texts.OneLine(command)+" ", " "+texts.OneLine(some)+" ")
}

// innocent reports whether nothing in a text looks like an order to an agent, not even a little: only
// then it may be learned or proposed.
func innocent(text string) bool { return len(inject.Scan(text)) == 0 }
