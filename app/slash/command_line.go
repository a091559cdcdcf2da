package slash

import (
	"slices"
	"strings"

	"buddy/texts"
)

// onCommandLine maps slash commands to their counterparts on the command line, as hints name them.
var onCommandLine = map[string]string{
	"trust": "buddy trust", "mcp": "buddy mcp check", "hooks": "buddy doctor", "skills": "buddy doctor", "agents": "buddy doctor", "doctor": "buddy doctor", "model": "--model", "approve": "--approve",
	"login": "buddy login", "config": "buddy config", "memory": "buddy memory", "permissions": "buddy policy", "session": "buddy exec without --resume",
}

var (
	// withCounterpart matches a slash command that is followed by its counterpart on the command line, as in "/trust, or
	// run: buddy trust".
	withCounterpart = texts.Regexp(`/[a-z]+(?: [^\s,]+)?, or (?:run )?((?:run: )?buddy )`)
	// slashed matches text that may be a slash command or a path.
	slashed = texts.Regexp(`(?:^|[\s(])/[a-z]+(?:[/\w.-]*\w)?`)
	// clauses matches the separators between the parts of a hint.
	clauses = texts.Regexp(` · |; |: |, |\. `)
)

// OnCommandLine rewords a text of buddy for places where nobody can type slash commands. It replaces slash commands by
// their counterparts on the command line, and drops the parts of the text that name a command without a counterpart.
func OnCommandLine(text string) string {
	if !strings.Contains(text, "/") {
		return text
	}
	text = withCounterpart().ReplaceAllString(text, "$1")
	text = strings.ReplaceAll(text, "/session new", "/session")
	text = slashed().ReplaceAllStringFunc(text, func(found string) string {
		before, name, _ := strings.Cut(found, "/")
		if other, ok := onCommandLine[name]; ok {
			return before + other
		}
		return found
	})
	var kept strings.Builder
	separator, from := "", 0
	for _, at := range append(clauses().FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		if part := text[from:at[0]]; !typedOnly(part) {
			if kept.Len() > 0 {
				kept.WriteString(separator)
			}
			kept.WriteString(part)
			separator = ""
		}
		if separator == "" {
			separator = text[at[0]:at[1]]
		}
		from = at[1]
	}
	return kept.String()
}

// typedOnly reports whether a text names a slash command that can only be typed in a session.
func typedOnly(text string) bool {
	return slices.ContainsFunc(slashed().FindAllString(text, -1), func(found string) bool {
		_, name, _ := strings.Cut(found, "/")
		_, ok := Find(name)
		return ok && !slices.Contains(InExec, name)
	})
}

// InExec lists the built-in commands that exec accepts as its prompt.
var InExec = []string{"help", "init", "workflow"}
