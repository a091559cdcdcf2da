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

// width orders scopes, widest first.
func (s Scope) width() int { return slices.Index(Scopes, s) }

// stance holds the demand of an entry: do something, avoid it, or do another thing instead.
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

// stanceOf parses the stance of a text. A text without any of the known words asks for what it describes.
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

// normal returns a text in the form in which texts are compared.
func normal(s string) string {
	return strings.Trim(strings.ToLower(strings.ReplaceAll(texts.OneLine(s), "`", "")), " .!;:,")
}

// override marks entries that contradict each other: the newer one wins in a scope, the narrower one between scopes. An
// entry for some paths or a target is narrower. A project never overrides the person: the model and the person see both
// entries.
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

// maxGroup limits the entries on one subject that are compared pairwise, so that thousands of entries do not take long.
const maxGroup = 200

// decide marks the loser of two entries that contradict each other, or marks them as opposed.
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

// contradicts reports whether two stances on the same subject are opposite.
func (s stance) contradicts(other stance) bool {
	return s.against != other.against || s.instead != other.instead && s.instead != "" && other.instead != ""
}

// sameTarget reports whether both entries can apply to the same target.
func sameTarget(a, b Entry) bool {
	x, y := a.Note.Target(), b.Note.Target()
	return x == y || x == "" || y == ""
}

// holds reports whether a wins over b. b comes after a in the files.
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

// onTarget reports whether a limit, which may be a glob, covers a target named as in actions: local, or root@web-02
// (ssh).
func onTarget(limit, target string) bool {
	name, _, _ := strings.Cut(target, " (")
	_, host, at := strings.Cut(name, "@")
	return limit == "" || matches(limit, name) || at && matches(limit, host)
}

func matches(glob, name string) bool { return doublestar.MatchUnvalidated(glob, name) }

// maxAbout limits the entries that an approval shows.
const maxAbout = 3

// About returns the entries that concern an action, to show with its approval. Such entries quote a part of the
// action's command, or are limited to its path or target. It reads no file.
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

// hasWords reports whether a command contains words in this order, without others between them.
func hasWords(command, some string) bool {
	return strings.Contains(" "+texts.OneLine(command)+" ", " "+texts.OneLine(some)+" ")
}

// innocent reports whether a text has no trace of a prompt injection. Only innocent texts are learned or proposed.
func innocent(text string) bool { return len(inject.Scan(text)) == 0 }
