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

// LimitError means that a file seems to contain a limit that can't be understood. The file is not used at all: the
// rest of it could permit more than the file intends.
type LimitError struct {
	Line   int // of the file, from 1
	Reason string
}

func (e *LimitError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Plain returns a name in the form for comparisons: lower-case letters and digits, without word separators.
func Plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// limits lists parts of setting names that announce a limit, in known programs or by their meaning. The names are in
// the form of [Plain].
var limits = []string{
	"tool", "permission", "permit", "readonly", "sandbox", "allow", "deny", "denied", "forbid", "forbidden", "block", "restrict", "exclude",
	"disab", "approv", "policy", "guard", "hook", "invo", "limit", "maxturn", "maxstep",
}

// exactLimits lists names that announce a limit only if they are the whole name of a setting.
var exactLimits = []string{"mode", "steps", "enabled", "access", "infer"}

// needs lists the first words of setting names that declare requirements.
var needs = []string{"requir", "depend", "uses", "recommend", "suggest"}

// Restricts reports whether a setting's name suggests that it limits what may be done.
func Restricts(name string) bool {
	plain := Plain(name)
	if slices.ContainsFunc(needs, func(begin string) bool { return strings.HasPrefix(plain, begin) }) {
		return false
	}
	return slices.Contains(exactLimits, plain) || slices.ContainsFunc(limits, func(part string) bool { return strings.Contains(plain, part) })
}

// Guards reports whether the name of an event suggests that its programs may refuse something: the event comes before a
// tool, a command or a request, or in place of an approval.
func Guards(moment string) bool {
	plain := Plain(moment)
	switch plain {
	case "precompact", "precompress", "permissiondenied": // these refuse no call
		return false
	}
	return strings.HasPrefix(plain, "pre") || strings.HasPrefix(plain, "before") || slices.ContainsFunc([]string{"permission", "approv", "guard"}, func(part string) bool { return strings.Contains(plain, part) })
}

// Twice returns the first duplicate key of an object in a JSON value, as compared by [Plain], or "". Programs
// differ in which of the two they use.
func Twice(value []byte) string {
	d := json.NewDecoder(bytes.NewReader(value))
	var open []map[string]bool // keys of each open object, nil for a list
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

// settingLine matches a line of a block with the name of a setting.
var settingLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*(?:-[ \t]+)?["']?([A-Za-z](?:[\w -]*\w)?)["']?[ \t]*[:=]`)
})

// limiting returns the first setting of an unreadable block that announces a limit, or "".
func limiting(block string) string {
	for line := range strings.SplitSeq(block, "\n") {
		if m := settingLine().FindStringSubmatch(line); m != nil && Restricts(m[1]) {
			return m[1]
		}
	}
	return ""
}

// maxBefore limits the lines before a misplaced block. A block after more lines is ordinary text.
const maxBefore = 20

// misplaced returns an error for a text without settings if it contains a block with a limit that is not at the start
// of the file, or that has another form.
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
			return &LimitError{i + 1, fmt.Sprintf("the front matter must be at the start of the file, between two lines with ---; here %s would have no effect", name)}
		}
	}
	return nil
}
