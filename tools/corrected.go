package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"buddy/texts"
)

// nearMiss returns the one tool that a name which no tool has can only mean: the same letters with other
// separators, or a slip of one letter, two in long names of what only reads. near are the tools that are close. With another
// one close to the name nothing is meant for sure, and meant is "".
//
// Only tools of the registry itself count, by our names and those of other programs: who calls a tool of a
// server has been told its name by tool_search.
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
	shortName  = 4  // letters of a name that is never corrected by a letter
	longName   = 8  // letters from which on two of them may be wrong
	nameLength = 40 // letters that a name which is corrected has at most

	maxSlipBytes = 60 // of an argument's name that is corrected, with all separators
)

// allowedSlips returns how many letters of a name may be wrong for a tool to be meant. It is two only for one
// that reads: a name such as task_stat must not become task_stop, which ends what runs.
func allowedSlips(bare, own string) int {
	switch n := len(bare); {
	case n <= shortName || n > nameLength:
		return 0
	case n < longName || !onlyReads(own):
		return 1
	}
	return maxSlip
}

// onlyReads reports whether the table of names says that one of our tools changes nothing.
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

// foreignNames returns what other programs call one of our tools.
func foreignNames(own string) []string {
	i := slices.IndexFunc(dialects, func(d dialect) bool { return d.tool == own })
	if i < 0 {
		return nil
	}
	return dialects[i].names
}

// slips counts the letters by which two names differ: one too many, one too few, one that is another, or two
// that changed places. It returns maxSlip+1 when there are more than maxSlip.
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

// correct gives a call whose name is a near miss the name of the tool that it means, and notes so for the
// model. Any other call stays as it is. The call is planned, judged and run as one of that tool. Names that
// are switched off in the settings are not corrected.
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

// correct gives arguments with a name that no argument has the name of the one that they can only be a slip
// for, notes so for the model, and returns what it renamed; nil for nothing. It never does more than the call
// would do with the right name, and it corrects only what can't make an unintended call bigger: an argument
// without which the tool refuses the call anyway, or one of a tool that only reads which is neither a flag nor
// names a place.
func (f *foreign) correct(d dialect, required []string) map[string]string {
	meant := make(map[string][]string) // by the argument: the names that may be slips for it
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
		f.say("there is no argument %q: it was taken for %s", wrong, to)
		renamed = joined(renamed, map[string]string{wrong: to})
	}
	return renamed
}

// slipFor returns the one argument that a name can only be a slip for. With another argument close to it
// nothing is meant for sure.
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

// isArgument reports whether a name is that of an argument of any of our tools, by our names or those of other
// programs, or one that is ignored: then it is no slip.
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

// otherNames returns what other programs call an argument of one of our tools.
func otherNames(d dialect, own string) (names []string) {
	for from, to := range d.args {
		if to == own {
			names = append(names, from)
		}
	}
	return names
}

// joined returns the union of two maps, nil if both are empty. What both have is as in a.
func joined(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	all := maps.Clone(b)
	maps.Copy(all, a)
	return all
}
