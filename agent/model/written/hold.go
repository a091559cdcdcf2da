package written

import (
	"strings"

	"buddy/agent/model"
)

const (
	// maxHeld limits how many bytes of an answer are held back. A longer text is not a call.
	maxHeld = 256 << 10

	// eachTime is the size in bytes up to which held text is parsed again with each new piece. Longer text is parsed
	// only after it has grown by a quarter, so that the total time stays proportional to its size.
	eachTime = 512
)

// hold keeps back the end of an answer as long as it may still become calls.
type hold struct {
	tools  tools
	buf    []byte // text held back, or not examined yet
	held   bool   // buf starts with a possible call
	inLine bool   // the text before buf ends within a line
	next   int    // the size at which buf is parsed again
	off    bool   // nothing more is held back
	unused bool   // the answer has the text of an unusable call
}

// newHold returns a hold for calls of the tools in defs. If there are no tools, it holds nothing back.
func newHold(defs []model.ToolDef) hold {
	return hold{tools: toolsOf(defs), off: len(defs) == 0}
}

// add adds the next piece of the answer, and returns the text that can no longer become a call.
func (h *hold) add(s string) string {
	if h.off && len(h.buf) == 0 {
		return s
	}
	h.buf = append(h.buf, s...)
	var free strings.Builder
	for len(h.buf) > 0 {
		if !h.held && !h.seek(&free) {
			break
		}
		if len(h.buf) > maxHeld {
			h.off = true
			free.WriteString(h.flush())
			break
		}
		if len(h.buf) < h.next {
			break
		}
		p := h.read()
		if p.state != none {
			h.next = len(h.buf) + 1
			if len(h.buf) > eachTime {
				h.next = len(h.buf) + len(h.buf)/4
			}
			break
		}
		h.skip(&free)
	}
	return free.String()
}

func (h *hold) read() *parser {
	p := parse(string(h.buf), h.tools)
	h.unused = h.unused || p.state == none && p.called
	return p
}

// seek moves the text before the next possible start of a call into free, and reports whether there is such a start.
func (h *hold) seek(free *strings.Builder) bool {
	h.free(free, callAt(string(h.buf), h.inLine))
	h.held, h.next = len(h.buf) > 0, 0
	return h.held
}

// skip moves the first byte of the held text into free, because no call starts there after all.
func (h *hold) skip(free *strings.Builder) {
	h.free(free, 1)
	h.held = false
}

func (h *hold) free(to *strings.Builder, n int) {
	if n == 0 {
		return
	}
	to.Write(h.buf[:n])
	line := h.buf[:n]
	if i := strings.LastIndexByte(string(line), '\n'); i >= 0 {
		line, h.inLine = line[i+1:], false
	}
	h.inLine = h.inLine || strings.Trim(string(line), " \t") != ""
	h.buf = h.buf[n:]
}

// end is called at the end of a complete answer. It returns the calls there, and the held text before them. The text of
// the calls stays held; flush returns it.
func (h *hold) end() (text string, calls []model.ToolCall) {
	var free strings.Builder
	for len(h.buf) > 0 && !h.off {
		if !h.held && !h.seek(&free) {
			break
		}
		p := h.read()
		if p.whole() {
			calls = p.calls
			break
		}
		h.unused = h.unused || p.called
		h.skip(&free)
	}
	return free.String(), calls
}

// flush returns the text that is held back, and empties the hold.
func (h *hold) flush() string {
	text := string(h.buf)
	h.buf, h.held = nil, false
	return text
}
