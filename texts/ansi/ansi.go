// Package ansi parses the escape sequences of terminals. All code that shows, removes or forwards sequences uses it,
// so that there is one answer to where a sequence ends and text starts.
//
//	plain := ansi.Strip("\x1b[31mFAIL\x1b[0m") // FAIL
//
// A parser stores at most 64 bytes of a sequence's parameters. A sequence that is not finished ends with its line.
// The package does not use charmbracelet/x/ansi (0.11.9), which takes all text after an unfinished sequence as part
// of it.
package ansi

import (
	"bytes"
	"strings"
)

// state is a Parser's position in a sequence.
type state uint8

const (
	none    state = iota
	started       // after ESC
	control       // after ESC [
	middle        // after ESC and an intermediate byte, as in ESC (
	text          // within OSC, DCS, APC, PM or SOS
)

// Parser parses sequences byte by byte, as they arrive. Its size is bounded: it drops parameters beyond its buffer. The
// zero Parser is outside a sequence.
type Parser struct {
	state  state
	final  byte // of the control sequence that has just ended; else 0
	n      int
	params [64]byte
}

// Start begins a sequence after its ESC.
func (p *Parser) Start() { *p = Parser{state: started} }

// Active reports whether the parser is inside a sequence.
func (p *Parser) Active() bool { return p.state != none }

// Next consumes the next byte of an active sequence. It returns false if the byte does not belong to the sequence,
// which has ended with the byte before. An ESC ends a sequence and starts another one; the terminator ESC \ of a text
// counts as a sequence of its own.
func (p *Parser) Next(b byte) bool {
	if b == 0x1b {
		p.Start()
		return true
	}
	switch p.state {
	case started:
		return p.begin(b)
	case control:
		return p.parameter(b)
	case middle:
		return p.end(b >= 0x20 && b < 0x7f, b < 0x30)
	}
	// A text ends with BEL, ESC \, or the end of its line.
	if b == '\n' || b == 0x18 || b == 0x1a {
		p.state = none
		return false
	}
	if b == 0x07 {
		p.state = none
	}
	return true
}

func (p *Parser) begin(b byte) bool {
	switch {
	case b == '[':
		p.state = control
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		p.state = text
	case b >= 0x20 && b < 0x30:
		p.state = middle
	default:
		return p.end(b >= 0x30 && b < 0x7f, false)
	}
	return true
}

// end ends the sequence, unless b is valid in it and more may follow. It reports whether b was part of the sequence.
func (p *Parser) end(valid, more bool) bool {
	if !valid || !more {
		p.state = none
	}
	return valid
}

func (p *Parser) parameter(b byte) bool {
	if b >= 0x20 && b < 0x40 {
		if p.n < len(p.params) {
			p.params[p.n] = b
		}
		p.n++
		return true
	}
	p.state = none
	if b < 0x40 || b > 0x7e {
		return false
	}
	p.final = b
	return true
}

// Control returns the parameters and the final byte of the control sequence (ESC [) that ended with the last byte of
// Next. final is 0 if none ended, or if its parameters exceed 64 bytes, which makes it invalid. params is valid until
// the next sequence starts.
func (p *Parser) Control() (params []byte, final byte) {
	if p.final == 0 || p.n > len(p.params) {
		return nil, 0
	}
	return p.params[:p.n], p.final
}

// Len returns the length of the sequence at the start of p, including its terminator: 1 for an ESC without a sequence,
// len(p) for a sequence that does not end in p. p must start with ESC.
func Len(p []byte) int {
	var q Parser
	q.Start()
	for i := 1; i < len(p); i++ {
		if p[i] == 0x1b {
			if q.state == text && i+1 < len(p) && p[i+1] == '\\' {
				return i + 2
			}
			return i
		}
		if !q.Next(p[i]) {
			return i
		}
		if !q.Active() {
			return i + 1
		}
	}
	return len(p)
}

// Strip returns s without its sequences.
func Strip(s string) string {
	at := strings.IndexByte(s, 0x1b)
	if at < 0 {
		return s
	}
	p := []byte(s)
	kept := make([]byte, 0, len(p))
	for at >= 0 {
		kept = append(kept, p[:at]...)
		p = p[at:]
		p = p[Len(p):]
		at = bytes.IndexByte(p, 0x1b)
	}
	return string(append(kept, p...))
}
