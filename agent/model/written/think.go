package written

import "strings"

const (
	thinkBegin = "<think>"
	thinkEnd   = "</think>"
)

// thinking separates the thoughts at the start of an answer from the text after them. The zero value is ready to use.
type thinking struct {
	held  string // not yet known to be thought or text
	found bool   // the answer starts with thoughts
	over  bool   // the thoughts have ended
	blank bool   // only white space has followed the thoughts
}

// add adds the next piece of an answer, and returns what is now known to be thoughts and text.
func (t *thinking) add(s string) (thought, text string) {
	if t.over {
		return "", t.trim(s)
	}
	t.held += s
	if !t.found {
		begin := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, thinkBegin):
			t.found, t.held = true, begin[len(thinkBegin):]
		case strings.HasPrefix(thinkBegin, begin):
			return "", ""
		default:
			return t.end()
		}
	}
	before, after, ended := strings.Cut(t.held, thinkEnd)
	if ended {
		t.held, t.over, t.blank = "", true, true
		return before, t.trim(after)
	}
	keep := len(t.held) - ending(t.held, thinkEnd)
	thought, t.held = t.held[:keep], t.held[keep:]
	return thought, ""
}

// trim drops the white space between the thoughts and the text.
func (t *thinking) trim(s string) string {
	if t.blank {
		s = strings.TrimLeft(s, " \t\r\n")
		t.blank = s == ""
	}
	return s
}

// end returns the rest of the answer. Thoughts without an end mark still count as thoughts.
func (t *thinking) end() (thought, text string) {
	if t.over {
		return "", ""
	}
	held := t.held
	t.held, t.over = "", true
	if t.found {
		return held, ""
	}
	return "", held
}

// ending returns how many bytes at the end of s may be the start of mark, whose rest may be in the next piece.
func ending(s, mark string) int {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}
