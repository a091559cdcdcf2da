package blocks

import (
	"regexp"
	"strings"
)

// block is a fenced block that stands for a call: a command, or the new text of a file.
type block struct {
	file string // the file's name; "" for a command
	text string
}

// scanner reads an answer piece by piece and finds the first fenced block that stands for a call. It supports the
// fences of CommonMark (spec.commonmark.org/0.31.2/#fenced-code-blocks), including those in list items.
type scanner struct {
	quoted func(text string) bool // whether the model has read a text; nil: it has read nothing

	prose  strings.Builder // the text before the call
	line   strings.Builder // the current, unfinished line
	passed int             // bytes of line that are already in prose
	before string          // the last non-blank line outside of fences
	item   int             // the column at which the text of a list item starts; 0: no list item
	open   *fence          // nil: the line is not in a fence
	call   *block          // nil: no call has ended yet
}

// fence is an open block.
type fence struct {
	mark   string // its opening characters
	indent int    // columns before them
	item   int    // columns of indent that belong to a list item
	call   bool   // the block is a call
	bare   bool   // the block has no language, so it is a call only if it looks like a command
	file   string // see block
	text   strings.Builder
	whole  strings.Builder // the text with the opening line
}

// write adds the next piece of an answer and returns the prose in it. Text after the first call is dropped.
func (s *scanner) write(piece string) (prose string) {
	at := s.prose.Len()
	for piece != "" && s.call == nil {
		part, rest, ended := strings.Cut(piece, "\n")
		s.line.WriteString(part)
		if piece = rest; ended {
			s.endLine("\n")
		}
	}
	line := s.line.String()
	if s.open == nil && !mayBegin(line) || s.open != nil && !s.open.call {
		s.keep("")
		s.passed = len(line)
	}
	return s.prose.String()[at:]
}

// end ends the answer and any open fence, and returns the rest of the prose.
func (s *scanner) end() (prose string) {
	at := s.prose.Len()
	if s.call == nil && s.line.Len() > 0 {
		s.endLine("")
	}
	if s.call == nil && s.open != nil && s.open.call {
		s.close()
	}
	return s.prose.String()[at:]
}

// marker matches what may precede a fence on its line.
var marker = regexp.MustCompile(`^(?: *(?:[-+*]|\d{1,9}[.)]) +)? *`)

// mayBegin reports whether an unfinished line may open a fence.
func mayBegin(line string) bool {
	rest := line[len(marker.FindString(line)):]
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(rest, mark) || strings.HasPrefix(mark, rest) {
			return true
		}
	}
	return false
}

func (s *scanner) endLine(end string) {
	line := strings.TrimSuffix(s.line.String(), "\r")
	switch f := s.open; {
	case f == nil:
		s.outside(line, end)
	case f.closes(line):
		if f.call {
			f.whole.WriteString(s.line.String() + end)
			s.close()
			break
		}
		s.open, s.before = nil, ""
		s.keep(end)
	case f.call:
		f.text.WriteString(unindented(line, f.indent) + "\n")
		f.whole.WriteString(s.line.String() + end)
	default:
		s.keep(end)
	}
	s.line.Reset()
	s.passed = 0
}

// keep adds what is left of the line to the prose, with its line end.
func (s *scanner) keep(end string) { s.prose.WriteString(s.line.String()[s.passed:] + end) }

// close ends the open fence. A block that does not stand for a call becomes prose.
func (s *scanner) close() {
	f := s.open
	s.open, s.before = nil, ""
	b := block{file: f.file, text: f.text.String()}
	if b.file == "" {
		b.text = commandIn(b.text)
	}
	if b.file == "" && (b.text == "" || f.bare && (!looksLikeCommand(b.text) || s.quoted != nil && s.quoted(b.text))) {
		s.prose.WriteString(f.whole.String())
		return
	}
	if b.file == "" && sentence.MatchString(b.text) {
		s.prose.WriteString(b.text)
		return
	}
	s.call = &b
}

// sentence matches a block that consists of a sentence. It is not a command: after some commands, small models write
// even their answer in a shell block.
var sentence = regexp.MustCompile("^[A-Z][a-z']+ [^\n]*[.!?]$")

// outside handles a complete line outside of fences.
func (s *scanner) outside(line, end string) {
	before := marker.FindString(line)
	indent, opens := len(before), strings.TrimSpace(before) != ""
	if opens {
		s.item = indent
	}
	if mark, info := fenceMark(line[indent:]); mark != "" && indent <= s.item+3 {
		s.open = &fence{mark: mark, indent: indent, item: min(s.item, indent)}
		alone := strings.TrimSpace(s.prose.String()) == ""
		if s.open.file, s.open.call = meaning(info, s.before, alone); s.open.call {
			s.open.bare = info == ""
			if opens { // the list marker stays
				s.prose.WriteString(before[s.passed:])
				s.passed = indent
			}
			s.open.whole.WriteString(s.line.String()[s.passed:] + end)
			return
		}
	} else if strings.TrimSpace(line) != "" {
		s.before = line
		if indent < s.item {
			s.item = 0
		}
	}
	s.keep(end)
}

// fenceMark returns the characters that open a fence and the rest of the line, or "" if the line opens no fence.
func fenceMark(text string) (mark, info string) {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return "", ""
	}
	rest := strings.TrimLeft(text, text[:1])
	mark = text[:len(text)-len(rest)]
	if len(mark) < 3 || text[0] == '`' && strings.Contains(rest, "`") {
		return "", ""
	}
	return mark, strings.TrimSpace(rest)
}

func (f *fence) closes(line string) bool {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > f.item+3 {
		return false
	}
	rest := strings.TrimLeft(text, f.mark[:1])
	return len(text)-len(rest) >= len(f.mark) && strings.TrimSpace(rest) == ""
}

// unindented returns a line without its first spaces, at most columns of them.
func unindented(line string, columns int) string {
	for columns > 0 && strings.HasPrefix(line, " ") {
		line = line[1:]
		columns--
	}
	return line
}
