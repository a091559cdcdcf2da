package shell

import (
	"slices"
	"strings"

	"buddy/texts"
)

// fileTests and stringTests are the operators of test with one operand, for files and for
// strings.
var (
	fileTests   = strings.Fields("-e -f -d -r -w -x -s -L -h -p -S -b -c -g -u -k -O -G -N")
	stringTests = strings.Fields("-n -z -t")
)

// binaryTests are the operators of test with two operands, and whether shells evaluate the
// operands.
var binaryTests = map[string]bool{
	"=": false, "==": false, "!=": false, "<": false, ">": false, "-nt": false, "-ot": false, "-ef": false,
	"-eq": true, "-ne": true, "-lt": true, "-le": true, "-gt": true, "-ge": true,
}

// testCheck allows test and [ if it is certain which words are operators: -v, -R and a
// computed operator evaluate an index.
func testCheck(a *analyser, c *call) string {
	name, list := c.spec.name, c.words
	if name == "[" && len(list) > 0 {
		list = list[:len(list)-1]
	}
	if why := testWords(name, list); why != "" {
		return why
	}
	for len(list) > 0 {
		n, why := a.folders.condition(name, list)
		if why != "" {
			return why
		}
		if list = list[n:]; len(list) == 0 {
			break
		}
		if s, _ := list[0].lit(); s != "-a" && s != "-o" {
			return unknownOperator(name, list[0])
		}
		list = list[1:]
	}
	return ""
}

// testWords returns why the words of a test may differ from what they seem, or "".
func testWords(name string, list []arg) string {
	if indexed(list) {
		return name + " may evaluate the index of a variable"
	}
	computed := false
	for _, w := range list {
		s, ok := w.lit()
		computed = computed || !ok
		if s == "-v" || s == "-R" {
			return name + " " + s + " evaluates a name"
		}
		if w.split && w.dynamic() && !w.safeWord() {
			return name + " with a word that may be several: " + texts.ClipBytes(w.src, 40)
		}
	}
	if computed && len(list) > 4 {
		return name + " has more words than show which is an operator"
	}
	return ""
}

func unknownOperator(name string, w arg) string {
	return name + " has an operator that is computed or not known: " + texts.ClipBytes(w.src, 40)
}

// condition judges the first condition of a test and returns its number of words, including
// brackets.
func (d *folders) condition(name string, list []arg) (int, string) {
	before := leadingWords(list, "!", "(")
	if before == len(list) {
		return before, ""
	}
	n, why := d.simpleCondition(name, list[before:])
	n += before
	if why != "" {
		return 0, why
	}
	return n + leadingWords(list[n:], ")"), ""
}

// leadingWords counts the leading words that are among some.
func leadingWords(list []arg, some ...string) int {
	n := slices.IndexFunc(list, func(w arg) bool { s, ok := w.lit(); return !ok || !slices.Contains(some, s) })
	if n < 0 {
		return len(list)
	}
	return n
}

// simpleCondition judges a condition without brackets.
func (d *folders) simpleCondition(name string, list []arg) (int, string) {
	if len(list) == 1 {
		return 1, ""
	}
	first, _ := list[0].lit()
	second, _ := list[1].lit()
	evaluates, binary := binaryTests[second]
	switch {
	case binary && len(list) > 2:
		if evaluates && (!list[0].isNumber() || !list[2].isNumber()) {
			return 0, name + " " + second + " with a text that may be evaluated"
		}
		return 3, ""
	case slices.Contains(fileTests, first):
		return 2, d.lists(list[1])
	case slices.Contains(stringTests, first):
		return 2, ""
	case second == "-a" || second == "-o" || second == ")":
		return 1, ""
	}
	return 0, unknownOperator(name, list[1])
}

// isNumber reports whether every value of the word is a number.
func (w arg) isNumber() bool {
	for _, v := range w.vals {
		if (v.kind != literal || !digits(strings.TrimPrefix(v.text, "-"))) && (v.kind != output || !v.names.number) {
			return false
		}
	}
	return len(w.vals) > 0
}

// safeWord reports whether the word comes from commands that print names or numbers.
func (w arg) safeWord() bool {
	for _, v := range w.vals {
		if v.kind == dynamic || v.kind == output && !v.names.number && !v.names.noDash {
			return false
		}
	}
	return true
}
