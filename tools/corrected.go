package tools

import (
	"fmt"
	"slices"
	"strings"
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
	call.Notes = append(call.Notes[:len(call.Notes):len(call.Notes)], fmt.Sprintf("there is no tool %q: %s was called", Clip(call.Name, 60), meant))
	call.Corrected, call.Name = Clip(call.Name, 60), meant
	return call
}
