package written

import "strings"

const (
	thinkBegin = "<think>"
	thinkEnd   = "</think>"
)

// thinking finds the thoughts with which an answer begins. The zero value is ready.
type thinking struct {
	held  string // that is not told apart yet
	found bool   // the answer begins with thoughts
	over  bool   // what follows is text
	blank bool   // of which nothing came yet
}

// add takes the next piece of an answer and returns what is clear of it.
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

// trim leaves out the space between the thoughts and the text.
func (t *thinking) trim(s string) string {
	if t.blank {
		s = strings.TrimLeft(s, " \t\r\n")
		t.blank = s == ""
	}
	return s
}

// end returns what was held back: thoughts without an end are thoughts.
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

// ending returns how many bytes at the end of s begin a mark.
func ending(s, mark string) int {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}
