package skill

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/texts"
)

// Facts holds the values of variables in a text.
type Facts struct {
	Project string // the root of the project
	Session string
}

// Run runs a command in a skill's text and returns its replacement: the output, or an error text.
type Run func(command string) string

// Expand returns the text of a skill called with arguments: each placeholder is replaced once, and the replacement
// is not expanded again. Commands in the text run in order.
func (s Skill) Expand(args string, f Facts, run Run) string {
	e := expansion{skill: s, facts: f, args: args, words: words(args), first: 1, positional: args != ""}
	if placeholderZero().MatchString(s.Body) {
		e.first = 0
	}
	var b strings.Builder
	at := 0
	for _, c := range commandsIn(s.Body) {
		b.WriteString(e.fill(s.Body[at:c.from]))
		b.WriteString(e.command(s.Body[c.text:c.textEnd], run))
		at = c.to
	}
	b.WriteString(e.fill(s.Body[at:]))
	text := strings.TrimSpace(visible(b.String()))
	if args != "" && !e.used {
		text += "\n\nARGUMENTS: " + visible(args)
	}
	return text
}

// Commands returns the commands in the text of the skill.
func (s Skill) Commands() []string {
	var all []string
	for _, c := range commandsIn(s.Body) {
		all = append(all, s.Body[c.text:c.textEnd])
	}
	return all
}

// CommandLines returns the commands with the paths of the skill's folder filled in.
func (s Skill) CommandLines() []string {
	all := s.Commands()
	for i := range all {
		all[i] = strings.NewReplacer("${CLAUDE_SKILL_DIR}", s.Dir, "${BUDDY_SKILL_DIR}", s.Dir).Replace(strings.TrimSpace(all[i]))
	}
	return all
}

// commandAt is the position of a command in a text, with and without its marks.
type commandAt struct{ from, to, text, textEnd int }

// commandForm matches !`command` at the start of a line or after a space, and a code block whose first line is
// ```!.
var commandForm = texts.Regexp("(?m)(?:^|[ \\t])!`([^`\\n]+)`|^```![ \\t]*\\n((?s:.*?))^```[ \\t]*$")

// commandsIn finds the commands in a text.
func commandsIn(body string) []commandAt {
	var all []commandAt
	for _, m := range commandForm().FindAllStringSubmatchIndex(body, -1) {
		c := commandAt{m[0], m[1], m[2], m[3]}
		if m[2] < 0 {
			c.text, c.textEnd = m[4], m[5]
		} else if body[c.from] == ' ' || body[c.from] == '\t' {
			c.from++
		}
		all = append(all, c)
	}
	return all
}

// placeholder matches the placeholders in a text; a backslash before one keeps it. Other dollar signs and
// backslashes stay, because they belong to a shell, awk or sed.
var (
	placeholder     = texts.Regexp(`(\\?)(?:\$ARGUMENTS\[(\d{1,3})\]|\$(ARGUMENTS)\b|\$(\d{1,3})|\$\{((?:CLAUDE|BUDDY)_(?:SKILL_DIR|PROJECT_DIR|SESSION_ID))\}|\$([A-Za-z_][A-Za-z0-9_-]*))`)
	placeholderZero = texts.Regexp(`(?:^|[^\\])\$(?:0(?:[^\w.,]|[.,]\D|[.,]?$)|ARGUMENTS\[0\])`)
	// decimals matches what follows the first digits of an amount of money such as $12.50.
	decimals = texts.Regexp(`^\d*[.,]\d`)
)

// expansion is the state of one Expand.
type expansion struct {
	skill      Skill
	facts      Facts
	args       string
	words      []string
	first      int    // number of the first argument
	positional bool   // $1 is an argument of the skill, not of a shell
	used       bool   // the text contains a placeholder for arguments
	odd        string // the last argument in the current command that is not a plain word; "" for none
}

// fill replaces the placeholders of a text.
func (e *expansion) fill(text string) string {
	return e.replace(text, func(raw string, _ []string) string { return raw })
}

// replace replaces the placeholders of a text. put formats an argument, which it gets as typed and as words.
func (e *expansion) replace(text string, put func(raw string, words []string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range placeholder().FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		b.WriteString(text[at:m[0]])
		at = m[1]
		whole := text[m[0]:m[1]]
		switch {
		case group(4) != "" && (!e.positional || group(1) == "" && e.isAmount(group(4), text[at:])) || group(6) != "" && !slices.Contains(e.skill.Args, group(6)):
			b.WriteString(whole)
		case group(1) != "":
			b.WriteString(strings.TrimPrefix(whole, `\`))
		case group(2) != "" || group(4) != "":
			b.WriteString(e.word(cmp.Or(group(2), group(4)), put))
		case group(3) != "":
			e.used = true
			b.WriteString(put(e.args, e.words))
		case group(5) != "":
			b.WriteString(e.variable(group(5)))
		default:
			b.WriteString(e.at(slices.Index(e.skill.Args, group(6)), put))
		}
	}
	b.WriteString(text[at:])
	return b.String()
}

// word returns the argument with a number, or "".
func (e *expansion) word(number string, put func(string, []string) string) string {
	n, _ := strconv.Atoi(number) // digits
	return e.at(n-e.first, put)
}

// at returns the i-th argument, or "".
func (e *expansion) at(i int, put func(string, []string) string) string {
	e.used = true
	if i < 0 || i >= len(e.words) {
		return ""
	}
	return put(e.words[i], e.words[i:i+1])
}

// isAmount reports whether a number after a dollar sign is an amount of money: it has decimals, or it has at least two
// digits and exceeds the number of arguments.
func (e *expansion) isAmount(number, rest string) bool {
	n, _ := strconv.Atoi(number) // digits
	return decimals().MatchString(rest) || n > 9 && n-e.first >= len(e.words)
}

func (e *expansion) variable(name string) string {
	switch _, what, _ := strings.Cut(name, "_"); what {
	case "SKILL_DIR":
		return e.skill.Dir
	case "PROJECT_DIR":
		return e.facts.Project
	}
	return e.facts.Session
}

// plainWord matches an argument that is safe anywhere in a command line.
var plainWord = texts.Regexp(`^[\p{L}\p{N}_.,:/@%+=-]*$`)

// command runs a command and returns its replacement. It refuses an argument that a shell might not read as one
// plain word, because quotes around the placeholder would not be safe.
func (e *expansion) command(text string, run Run) string {
	e.odd = ""
	line := e.replace(text, func(_ string, words []string) string {
		for _, word := range words {
			if !plainWord().MatchString(word) {
				e.odd = word
			}
		}
		return strings.Join(words, " ")
	})
	line = strings.TrimSpace(line)
	if e.odd != "" {
		return fmt.Sprintf("[not run: %s: the argument %q is not a plain word]", strings.TrimSpace(text), e.odd)
	}
	return run(line)
}

// words splits arguments like a shell: quotes and backslashes keep words together, and nothing else is special. An
// unclosed quote extends to the end.
func words(s string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	open, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case strings.ContainsRune(" \t\n\r", r):
			if open {
				words = append(words, word.String())
				word.Reset()
			}
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}
