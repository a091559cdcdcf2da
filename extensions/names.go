package extensions

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// normal returns a name in the form for comparisons.
func normal(name string) string { return strings.ToLower(norm.NFKC.String(name)) }

// wrongName returns what is wrong with a name, or "". It checks each part between colons. Names of workflows may
// contain single underscores.
func (k Kind) wrongName(name string) string {
	for part := range strings.SplitSeq(name, ":") {
		if !ValidName(part) && (k != Workflow || !ValidName(strings.ReplaceAll(part, "_", "-"))) {
			return fmt.Sprintf("the name %q is not valid: use a-z, 0-9 and single hyphens in between, at most %d characters%s", clip(name), maxName, better(part))
		}
	}
	return ""
}

// better proposes a valid name for an invalid one, or "".
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

// ValidName reports whether a lower-case name is valid for an extension: a-z, 0-9 and single hyphens in between.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' || name[len(name)-1] == '-' || strings.Contains(name, "--") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// Resolve sets the name to call each item by, and sorts the items by precedence: a person's, a project's from the
// nearest folder, a plugin's, built-in ones. The first item with a name gets it. A second one is called
// ORIGIN:NAME, such as project:commit, with a problem, or left out if its content is the same; further ones are
// left out. Names that reserved accepts belong to buddy.
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
			problem.Reason = fmt.Sprintf("%s is one of buddy's commands, so this one is called %s", it.call(it.Name), it.call(other))
		case clash:
			problem.Reason = fmt.Sprintf("%s is already the name of %s, so this one is called %s", it.call(it.Name), first.File, it.call(other))
		}
		if problem.Reason != "" {
			switch second, again := taken[other]; {
			case clash && first.Sum == it.Sum:
				problem.Used, problem.Reason = false, "it is the same as "+first.File
			case again && second.Sum == it.Sum:
				problem.Used, problem.Reason = false, "it is the same as "+second.File
			case again:
				problem.Used, problem.Reason = false, fmt.Sprintf("the names %s and %s are taken, the second by %s", it.call(it.Name), it.call(other), second.File)
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

// call returns a name as a person types it.
func (it Item) call(name string) string {
	if it.Kind == Agent || it.Kind == Workflow {
		return name
	}
	return "/" + name
}
