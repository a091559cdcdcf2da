package extensions

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// normal returns the form of a name in which names are compared.
func normal(name string) string { return strings.ToLower(norm.NFKC.String(name)) }

// wrongName says what is wrong with a name, of which each part between colons counts; "" is
// nothing. In those of workflows single underscores may stand in between, too.
func (k Kind) wrongName(name string) string {
	for part := range strings.SplitSeq(name, ":") {
		if !ValidName(part) && (k != Workflow || !ValidName(strings.ReplaceAll(part, "_", "-"))) {
			return fmt.Sprintf("the name %q is not valid: use a-z, 0-9 and single hyphens in between, at most %d characters%s", clip(name), maxName, better(part))
		}
	}
	return ""
}

// better proposes a name instead of a wrong one, "" for none.
func better(name string) string {
	hyphens := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. ", r) }), "-")
	if !ValidName(hyphens) {
		return ""
	}
	return "; " + hyphens + " would be valid"
}

// clip shortens a name for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// ValidName reports whether a name, in lower case, may be one of an extension: a-z, 0-9 and
// single hyphens in between.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' || name[len(name)-1] == '-' || strings.Contains(name, "--") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// Resolve gives every item the name that it is called by, and returns the items in the order in
// which they take precedence: a person's, a project's from the nearest folder on, a plugin's,
// built-in ones. The first with a name has it; a later one is called ORIGIN:NAME, such as
// project:commit, and a problem says so; a third one is left out, and so is a second with the
// same content. Names that reserved reports belong to buddy itself.
func Resolve(items []Item, reserved func(name string) bool) ([]Item, []Problem) {
	slices.SortStableFunc(items, func(a, b Item) int { return rank[a.Origin] - rank[b.Origin] })
	var kept []Item
	var problems []Problem
	taken := make(map[string]Item)
	for _, it := range items {
		first, clash := taken[it.Name]
		other := string(it.Origin) + ":" + it.Name
		problem := Problem{Kind: it.Kind, File: it.File, Used: true}
		switch {
		case reserved(it.Name):
			problem.Reason = fmt.Sprintf("%s is a command of buddy, so this is %s", it.call(it.Name), it.call(other))
		case clash:
			problem.Reason = fmt.Sprintf("%s is %s, so this is %s", it.call(it.Name), first.File, it.call(other))
		}
		if problem.Reason != "" {
			switch second, again := taken[other]; {
			case clash && first.Sum == it.Sum:
				problem.Used, problem.Reason = false, "it is the same as "+first.File
			case again && second.Sum == it.Sum:
				problem.Used, problem.Reason = false, "it is the same as "+second.File
			case again:
				problem.Used, problem.Reason = false, fmt.Sprintf("%s and %s are taken, by %s", it.call(it.Name), it.call(other), second.File)
			default:
				it.Name = other
			}
			problems = append(problems, problem)
			if !problem.Used {
				continue
			}
		}
		taken[it.Name] = it
		kept = append(kept, it)
	}
	return kept, problems
}

// call returns a name as a person writes it.
func (it Item) call(name string) string {
	if it.Kind == Agent || it.Kind == Workflow {
		return name
	}
	return "/" + name
}
