package frontmatter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// LimitError is a file that looks as if it limits something, and can't be understood. It is not used in part:
// what would be left of it could do more than the file says.
type LimitError struct {
	Line   int // of the file, from 1
	Reason string
}

func (e *LimitError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Plain returns the form in which names are compared: small letters and digits, without what separates words.
func Plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// limits are parts of names of settings that limit something, in programs that are known and by what the
// words mean.
var limits = []string{
	"tool", "permission", "permit", "readonly", "sandbox", "allow", "deny", "denied", "forbid", "forbidden", "block", "restrict", "exclude",
	"disab", "approv", "policy", "guard", "hook", "invo", "limit", "maxturn", "maxstep",
}

// exactLimits are names that limit something, whose words in other names do not.
var exactLimits = []string{"mode", "steps", "enabled", "access", "infer"}

// needs begin names of settings that say what something needs.
var needs = []string{"requir", "depend", "uses", "recommend", "suggest"}

// Restricts reports whether a setting looks, by its name, as if it limits what may be done.
func Restricts(name string) bool {
	plain := Plain(name)
	if slices.ContainsFunc(needs, func(begin string) bool { return strings.HasPrefix(plain, begin) }) {
		return false
	}
	return slices.Contains(exactLimits, plain) || slices.ContainsFunc(limits, func(part string) bool { return strings.Contains(plain, part) })
}

// Guards reports whether the name of a moment looks as if a program that runs then may refuse something: before a
// tool, a command or a request, or in place of an approval.
func Guards(moment string) bool {
	plain := Plain(moment)
	switch plain {
	case "precompact", "precompress", "permissiondenied": // these refuse no call
		return false
	}
	return strings.HasPrefix(plain, "pre") || strings.HasPrefix(plain, "before") || slices.ContainsFunc([]string{"permission", "approv", "guard"}, func(part string) bool { return strings.Contains(plain, part) })
}

// Twice returns the first name that an object in a value of JSON has twice, as compared by [Plain]; "" is none. Which of
// the two counts is not the same for all programs.
func Twice(value []byte) string {
	d := json.NewDecoder(bytes.NewReader(value))
	var open []map[string]bool // the names of each object, nil of a list
	isName := false
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		switch token {
		case json.Delim('{'):
			open, isName = append(open, map[string]bool{}), true
			continue
		case json.Delim('['):
			open, isName = append(open, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			isName = len(open) > 0 && open[len(open)-1] != nil
			continue
		}
		names := map[string]bool(nil)
		if len(open) > 0 {
			names = open[len(open)-1]
		}
		name, _ := token.(string)
		if isName && names[Plain(name)] {
			return name
		}
		if isName {
			names[Plain(name)] = true
		}
		isName = names != nil && !isName
	}
}

// settingLine is a line of a block that names a setting.
var settingLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*(?:-[ \t]+)?["']?([A-Za-z](?:[\w -]*\w)?)["']?[ \t]*[:=]`)
})

// limiting returns the first setting that limits something, of a block that can't be read; "" is none.
func limiting(block string) string {
	for line := range strings.SplitSeq(block, "\n") {
		if m := settingLine().FindStringSubmatch(line); m != nil && Restricts(m[1]) {
			return m[1]
		}
	}
	return ""
}

// maxBefore limits how many lines before a block are a mistake, and no text with a rule in it.
const maxBefore = 20

// misplaced returns an error about a text without settings, if it has a block that does not begin the file, or one
// of another form, and that limits something.
func misplaced(text string) error {
	lines := strings.Split(text, "\n")
	for i, line := range lines[:min(len(lines), maxBefore)] {
		line = strings.TrimSpace(line)
		if line != "---" && line != "+++" {
			continue
		}
		end := slices.IndexFunc(lines[i+1:], func(l string) bool { return strings.TrimSpace(l) == line })
		if end < 0 || !settingLine().MatchString(lines[i+1]) {
			continue
		}
		if name := limiting(strings.Join(lines[i+1:i+1+end], "\n")); name != "" {
			return &LimitError{i + 1, fmt.Sprintf("the front matter must come first in the file, between two lines ---; here %s would have no effect", name)}
		}
	}
	return nil
}
