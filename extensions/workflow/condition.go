package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/texts"
)

// Limits of a condition.
const (
	maxCondition = 2000 // bytes
	maxNested    = 20   // parentheses and not, in each other
)

// Condition is a boolean expression about values and files: steps.tests.ok and not exists("RELEASED").
type Condition struct {
	root expr
	text string
	line int
}

// String returns the condition as written.
func (c *Condition) String() string { return c.text }

// expr is a literal (op ""), a reference ("ref"), or an operation on other expressions: exists,
// not, and, or, ==, !=, <, >, contains.
type expr struct {
	op   string
	kids []expr
	lit  any // string, int or bool
	ref  Ref
}

// parseCondition parses a condition without checking its references.
func parseCondition(s string) (*Condition, error) {
	if len(s) > maxCondition {
		return nil, fmt.Errorf("has %d bytes (allowed: %d)", len(s), maxCondition)
	}
	words, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &parser{words: words}
	root, err := p.any()
	if err == nil && p.peek() != "" {
		err = fmt.Errorf("unexpected %q", texts.Clip(p.peek(), 40))
	}
	if err != nil {
		return nil, err
	}
	return &Condition{root: root, text: texts.OneLine(s)}, nil
}

// word is a token of a condition; quoted ones are texts.
type word struct {
	text   string
	quoted bool
}

const operators = "()<>"

// lex splits a condition into tokens.
func lex(s string) ([]word, error) {
	var all []word
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		switch {
		case s[0] == '"' || s[0] == '\'':
			inner, rest, ok := strings.Cut(s[1:], s[:1])
			if !ok {
				return nil, fmt.Errorf("the text that starts with %q is not closed", texts.Clip(s, 40))
			}
			all, s = append(all, word{inner, true}), rest
		case strings.HasPrefix(s, "==") || strings.HasPrefix(s, "!="):
			all, s = append(all, word{text: s[:2]}), s[2:]
		case strings.IndexByte(operators, s[0]) >= 0:
			all, s = append(all, word{text: s[:1]}), s[1:]
		default:
			n := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) })
			if n == 0 {
				return nil, fmt.Errorf("%q can't be in a condition (have: == != < > contains, and or not, exists(\"path\"))", texts.Clip(s, 20))
			}
			if n < 0 {
				n = len(s)
			}
			all, s = append(all, word{text: s[:n]}), s[n:]
		}
	}
	return all, nil
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-'
}

// parser is a recursive descent parser.
type parser struct {
	words []word
	depth int
}

// peek returns the next token unless it is quoted, "" at the end.
func (p *parser) peek() string {
	switch {
	case len(p.words) == 0:
		return ""
	case p.words[0].quoted:
		return strconv.Quote(p.words[0].text)
	}
	return p.words[0].text
}

// accept consumes the next token if it is s.
func (p *parser) accept(s string) bool {
	if p.peek() != s || s == "" {
		return false
	}
	p.words = p.words[1:]
	return true
}

// any parses operands joined by "or".
func (p *parser) any() (expr, error) { return p.chain("or", p.all) }

// all parses operands joined by "and".
func (p *parser) all() (expr, error) { return p.chain("and", p.not) }

func (p *parser) chain(op string, next func() (expr, error)) (expr, error) {
	first, err := next()
	if err != nil || p.peek() != op {
		return first, err
	}
	e := expr{op: op, kids: []expr{first}}
	for p.accept(op) {
		kid, err := next()
		if err != nil {
			return expr{}, err
		}
		e.kids = append(e.kids, kid)
	}
	return e, nil
}

func (p *parser) not() (expr, error) {
	if !p.accept("not") {
		return p.comparison()
	}
	if p.depth++; p.depth > maxNested {
		return expr{}, fmt.Errorf("is nested more than %d deep", maxNested)
	}
	defer func() { p.depth-- }()
	kid, err := p.not()
	return expr{op: "not", kids: []expr{kid}}, err
}

var comparisons = []string{"==", "!=", "<", ">", "contains"}

func (p *parser) comparison() (expr, error) {
	left, err := p.operand()
	if err != nil || !slices.Contains(comparisons, p.peek()) {
		return left, err
	}
	op := p.peek()
	p.accept(op)
	right, err := p.operand()
	return expr{op: op, kids: []expr{left, right}}, err
}

func (p *parser) operand() (expr, error) {
	if len(p.words) == 0 {
		return expr{}, errors.New("a value is missing at the end")
	}
	w := p.words[0]
	p.words = p.words[1:]
	switch {
	case w.quoted:
		return expr{lit: w.text}, nil
	case w.text == "true" || w.text == "false":
		return expr{lit: w.text == "true"}, nil
	case w.text == "(":
		if p.depth++; p.depth > maxNested {
			return expr{}, fmt.Errorf("is nested more than %d deep", maxNested)
		}
		defer func() { p.depth-- }()
		e, err := p.any()
		if err == nil && !p.accept(")") {
			err = errors.New("a ) is missing")
		}
		return e, err
	case w.text == "exists":
		if !p.accept("(") {
			return expr{}, errors.New(`exists needs a path in parentheses: exists("Makefile")`)
		}
		path, err := p.operand()
		if err == nil && !p.accept(")") {
			err = errors.New("exists: a ) is missing")
		}
		return expr{op: "exists", kids: []expr{path}}, err
	}
	if n, err := strconv.Atoi(w.text); err == nil {
		return expr{lit: n}, nil
	}
	ref, err := parseRef(w.text)
	return expr{op: "ref", ref: ref}, err
}

// Refs returns the references of a condition.
func (c *Condition) Refs() []Ref {
	if c == nil {
		return nil
	}
	var all []Ref
	c.root.refs(&all)
	return all
}

func (e expr) refs(all *[]Ref) {
	if e.op == "ref" {
		*all = append(*all, e.ref)
	}
	for _, kid := range e.kids {
		kid.refs(all)
	}
}

// kindIn returns the kind of an expression's value, or an error for operands that do not fit. The function of returns
// the kind of a reference.
func (e expr) kindIn(of func(Ref) kind) (kind, error) {
	kinds := make([]kind, len(e.kids))
	for i, kid := range e.kids {
		k, err := kid.kindIn(of)
		if err != nil {
			return "", err
		}
		kinds[i] = k
	}
	switch e.op {
	case "":
		return kindOf(e.lit), nil
	case "ref":
		return of(e.ref), nil
	}
	return truth, e.fits(kinds)
}

// fits checks the kinds of an operation's operands.
func (e expr) fits(kinds []kind) error {
	switch e.op {
	case "not", "and", "or":
		for i, k := range kinds {
			if k != truth {
				return fmt.Errorf("%s needs true or false, but %s is %s", e.op, e.kids[i], k)
			}
		}
	case "exists":
		if kinds[0] != text {
			return fmt.Errorf("exists needs a path, but %s is %s", e.kids[0], kinds[0])
		}
	case "contains":
		if kinds[0] != text && kinds[0] != list || kinds[1] != text {
			return fmt.Errorf("contains needs a text or a list, then a text: %s is %s, %s is %s", e.kids[0], kinds[0], e.kids[1], kinds[1])
		}
	case "<", ">":
		return e.ordered(kinds)
	default:
		return e.comparable(kinds)
	}
	return nil
}

// ordered checks that two operands can be compared as numbers. Whether a text is a number is checked at run time.
func (e expr) ordered(kinds []kind) error {
	for i, k := range kinds {
		if k != number && (k != text || e.kids[i].op == "") {
			return fmt.Errorf("%s needs numbers, but %s is %s", e.op, e.kids[i], k)
		}
	}
	return nil
}

// comparable checks that two operands can be equal.
func (e expr) comparable(kinds []kind) error {
	switch {
	case kinds[0] == list || kinds[1] == list:
		return fmt.Errorf("%s can't compare lists; use contains", e.op)
	case kinds[0] != kinds[1] && (kinds[0] == truth || kinds[1] == truth):
		return fmt.Errorf("%s is %s, and %s is %s: they are never the same", e.kids[0], kinds[0], e.kids[1], kinds[1])
	}
	return nil
}

// String returns an operand as written.
func (e expr) String() string {
	switch e.op {
	case "":
		if s, ok := e.lit.(string); ok {
			return strconv.Quote(texts.Clip(s, 40))
		}
		return fmt.Sprint(e.lit)
	case "ref":
		return e.ref.String()
	}
	return "the value it is compared with"
}

func kindOf(v any) kind {
	switch v.(type) {
	case int:
		return number
	case bool:
		return truth
	case []string:
		return list
	}
	return text
}

// Holds evaluates the condition. exists reports whether a file exists on the step's target. Holds fails if exists
// fails, or if < or > compares a text that is not a number.
func (c *Condition) Holds(sc Scope, exists func(path string) (bool, error)) (bool, error) {
	if c == nil {
		return true, nil
	}
	v, err := c.root.eval(sc, exists)
	b, _ := v.(bool) // Parse refuses others
	return b, err
}

func (e expr) eval(sc Scope, exists func(string) (bool, error)) (any, error) {
	switch e.op {
	case "":
		return e.lit, nil
	case "ref":
		return sc.value(e.ref), nil
	case "and", "or":
		for _, kid := range e.kids {
			v, err := kid.eval(sc, exists)
			if err != nil || v == (e.op == "or") {
				return v, err
			}
		}
		return e.op == "and", nil
	}
	left, err := e.kids[0].eval(sc, exists)
	if err != nil {
		return nil, err
	}
	switch e.op {
	case "not":
		return left != true, nil
	case "exists":
		return exists(textOf(left, ""))
	}
	right, err := e.kids[1].eval(sc, exists)
	if err != nil {
		return nil, err
	}
	return compare(e, left, right)
}

// compare evaluates an operation on two values.
func compare(e expr, left, right any) (bool, error) {
	switch e.op {
	case "==":
		return textOf(left, "") == textOf(right, ""), nil
	case "!=":
		return textOf(left, "") != textOf(right, ""), nil
	case "contains":
		if items, many := left.([]string); many {
			return slices.Contains(items, textOf(right, "")), nil
		}
		return strings.Contains(textOf(left, ""), textOf(right, "")), nil
	}
	if left == nil || right == nil { // a missing number: the exit code of a step that did not run
		return false, nil
	}
	a, err := numberOf(e.kids[0], left)
	b, err2 := numberOf(e.kids[1], right)
	if err = cmp.Or(err, err2); err != nil {
		return false, err
	}
	return e.op == "<" && a < b || e.op == ">" && a > b, nil
}

func numberOf(e expr, v any) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(textOf(v, "")), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number: %q", e, texts.Clip(textOf(v, ""), 80))
	}
	return n, nil
}
