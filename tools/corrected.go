package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/texts"
)

// nearMiss returns the tool that an unknown name means if the name is a typo: the same letters with other separators,
// one wrong letter, or two wrong letters in the long name of a read-only tool. near lists the tools with similar names.
// If there are several, the name is ambiguous, and meant is "".
//
// nearMiss considers only tools of the registry, by our names and those of other programs. It ignores tools of MCP
// servers, whose exact names a model has from tool_search.
func (r *Registry) nearMiss(name string) (meant string, near []string) {
	wrong := bareName(name)
	same := ""
	for _, own := range r.names {
		best := maxSlip + 1
		for _, n := range slices.Concat([]string{own}, foreignNames(own)) {
			best = min(best, slips(wrong, bareName(n)))
		}
		if best <= maxSlip {
			near = append(near, own)
		}
		if best == 0 {
			same = own
		}
		if best <= allowedSlips(wrong, own) {
			meant = own
		}
	}
	if same != "" {
		return same, near
	}
	if len(near) != 1 {
		return "", near
	}
	return meant, near
}

const (
	maxSlip    = 2
	shortName  = 4  // up to this length, no letter of a name may be wrong
	longName   = 8  // names of at least this length may have two wrong letters
	nameLength = 40 // longer names are not corrected

	maxSlipBytes = 60 // longer argument names, including separators, are not corrected
)

// allowedSlips returns how many letters of a name may be wrong. Two are allowed only for a tool that reads: a name such
// as task_stat must not become task_stop, which ends a task.
func allowedSlips(bare, own string) int {
	switch n := len(bare); {
	case n <= shortName || n > nameLength:
		return 0
	case n < longName || !onlyReads(own):
		return 1
	}
	return maxSlip
}

// onlyReads reports whether the table dialects marks one of our tools as read-only.
func onlyReads(own string) bool {
	return slices.ContainsFunc(dialects, func(d dialect) bool { return d.tool == own && d.reads })
}

// bareName returns the letters and digits of a tool's name, in lower case.
func bareName(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == '.' || c == ' ' {
			return -1
		}
		return c
	}, plainName(name))
}

// foreignNames returns the names that other programs use for one of our tools.
func foreignNames(own string) []string {
	i := slices.IndexFunc(dialects, func(d dialect) bool { return d.tool == own })
	if i < 0 {
		return nil
	}
	return dialects[i].names
}

// slips counts the letters by which two names differ: a missing, additional or different letter, or two swapped ones.
// It returns maxSlip+1 for more than maxSlip.
func slips(a, b string) int {
	const most = maxSlip
	if max(len(a), len(b)) > nameLength || len(a)-len(b) > most || len(b)-len(a) > most {
		if a == b {
			return 0
		}
		return most + 1
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], most+1)
}

// correct replaces the misspelled tool name of a call by the name of the tool that it means, and adds a note for the
// model. The call is then planned, judged and run as a call of that tool. Other calls, and names of tools that are
// switched off in the settings, are returned unchanged.
func (r *Registry) correct(call Call) Call {
	if _, err := r.Lookup(call.Name); err == nil || r.off[nativeName(call.Name)] != "" {
		return call
	}
	meant, _ := r.nearMiss(call.Name)
	if meant == "" {
		return call
	}
	call.Notes = append(slices.Clip(call.Notes), fmt.Sprintf("there is no tool %q: %s was called", texts.ClipBytes(call.Name, 60), meant))
	call.Corrected, call.Name = texts.ClipBytes(call.Name, 60), meant
	return call
}

// correct replaces misspelled argument names by the only argument that they can mean, notes that for the model, and
// returns the renamed arguments; nil if there are none. A correction must not make an unintended call do more. So only
// two kinds of arguments are corrected: those without which the tool refuses the call anyway, and those of a read-only
// tool that are neither flags nor names of places.
func (f *foreign) correct(d dialect, required []string) map[string]string {
	meant := make(map[string][]string) // by argument: the names that may be slips for it
	for _, wrong := range slices.Sorted(maps.Keys(f.values)) {
		if to, ok := f.slipFor(d, wrong, required); ok {
			meant[to] = append(meant[to], wrong)
		}
	}
	var renamed map[string]string
	for _, to := range slices.Sorted(maps.Keys(meant)) {
		if len(meant[to]) > 1 {
			continue
		}
		wrong := meant[to][0]
		f.values[to] = f.values[wrong]
		delete(f.values, wrong)
		f.addNote("there is no argument %q: it was taken for %s", wrong, to)
		renamed = joined(renamed, map[string]string{wrong: to})
	}
	return renamed
}

// slipFor returns the only argument that a misspelled name can mean. ok is false if there is none, if several are
// similar, or if the argument must not be corrected.
func (f *foreign) slipFor(d dialect, wrong string, required []string) (to string, ok bool) {
	if len(wrong) > maxSlipBytes || f.known[wrong] != nil || isArgument(d, wrong) || string(f.values[wrong]) == "null" {
		return "", false
	}
	bare, near := bareName(wrong), 0
	for own := range f.known {
		if _, given := f.values[own]; given {
			continue
		}
		best := maxSlip + 1
		for _, n := range append(otherNames(d, own), own) {
			best = min(best, slips(bare, bareName(n)))
		}
		if best <= maxSlip {
			near++
		}
		if best == 0 || best == 1 && len(bare) > shortName {
			to, ok = own, slices.Contains(required, own) || d.reads && f.isDetail(own)
		}
	}
	return to, ok && near == 1
}

// isDetail reports whether an argument is neither a flag nor names a place.
func (f *foreign) isDetail(own string) bool {
	var schema struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(f.known[own], &schema) == nil && schema.Type != "boolean" && !namesPlace(own)
}

// isArgument reports whether a name is known, and so not a slip: it is an argument of one of our tools, by our name or
// by that of another program, or an ignored argument.
func isArgument(d dialect, name string) bool {
	if _, ignored := d.ignored[name]; ignored || slices.Contains(undocumented, name) || slices.Contains(whyNames, name) {
		return true
	}
	return slices.ContainsFunc(dialects, func(d dialect) bool {
		if _, foreign := d.args[name]; foreign {
			return true
		}
		for _, own := range d.args {
			if own == name {
				return true
			}
		}
		return false
	})
}

// otherNames returns the names that other programs use for an argument of one of our tools.
func otherNames(d dialect, own string) (names []string) {
	for from, to := range d.args {
		if to == own {
			names = append(names, from)
		}
	}
	return names
}

// joined returns the union of two maps, nil if both are empty. For a key that is in both maps, the value in a counts.
func joined(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	all := maps.Clone(b)
	maps.Copy(all, a)
	return all
}
