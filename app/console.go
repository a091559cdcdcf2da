package app

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"buddy/tmux/pane"
	"buddy/views/markup"
)

// errInterrupt is Ctrl-C while a line is read.
var errInterrupt = errors.New("interrupted")

// console is a terminal, or what stands for it, that is read line by line. What is printed
// while somebody types goes above their line. Only read is for one goroutine at a time.
type console struct {
	in       *os.File
	lines    *bufio.Reader // of in, when nothing can be edited
	out, err *os.File
	echo     *os.File // where prompts go
	tty      bool     // a person types
	edits    bool     // the line can be edited: in and echo are a terminal that can move its cursor
	complete func(line string, pos int) (string, int, bool)
	history  typedLines
	typed    *interrupts // what the editor reads

	mu    sync.Mutex     // guards what follows
	term  *term.Terminal // nil: no line is being edited
	mode  *term.State    // of the terminal before that
	shown string         // the prompt before a line that the terminal edits
	spun  int            // columns of the line that says that work goes on
}

func newConsole(stdin, stdout, stderr *os.File) *console {
	c := &console{in: stdin, lines: bufio.NewReaderSize(stdin, 64<<10), out: stdout, err: stderr, echo: stdout}
	outTTY := term.IsTerminal(int(stdout.Fd()))
	if !outTTY {
		c.echo = stderr
	}
	c.tty = term.IsTerminal(int(stdin.Fd()))
	c.edits = c.tty && !dumb() && term.IsTerminal(int(c.echo.Fd()))
	return c
}

// dumb reports whether the terminal can't move its cursor.
func dumb() bool {
	name := os.Getenv("TERM")
	return name == "" || name == "dumb"
}

// maxLine is how long a line may be that is not edited, in bytes.
const maxLine = maxPrompt

// read returns a line, io.EOF at the end, or errInterrupt. Lines that were pasted together,
// and those that end in a backslash, are one.
func (c *console) read(prompt string) (string, error) {
	if !c.tty {
		return c.plainLine()
	}
	if c.edits {
		if done, err := c.edit(prompt); err == nil {
			defer done()
			return c.joined(func(again bool) (string, bool, error) { return c.editedLine(prompt, again) })
		}
	}
	return c.joined(func(again bool) (string, bool, error) {
		defer c.prompting(continued(prompt, again))()
		line, err := c.plainLine()
		return line, false, err
	})
}

// prompting shows a prompt until the line is there.
func (c *console) prompting(prompt string) (done func()) {
	c.print(c.echo, prompt)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = prompt
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.shown = ""
	}
}

// continuation stands before the lines of one input after its first (I04).
const continuation = "...... "

func continued(prompt string, again bool) string {
	if again {
		return continuation
	}
	return prompt
}

// joined puts together the lines of one input.
func (c *console) joined(next func(again bool) (line string, more bool, err error)) (string, error) {
	var all []string
	for size := 0; ; {
		line, more, err := next(len(all) > 0)
		if errors.Is(err, io.EOF) && len(all) > 0 {
			more, err = false, nil
		}
		if err != nil {
			return "", err
		}
		if rest, ok := strings.CutSuffix(line, "\\"); ok && !more {
			line, more = rest, true
		}
		all = append(all, line)
		if size += len(line) + 1; !more || size > maxPrompt {
			return strings.TrimRight(strings.Join(all, "\n"), "\n"), nil
		}
	}
}

// plainLine reads a line that the terminal, if there is one, edits itself.
func (c *console) plainLine() (string, error) {
	var line []byte
	for {
		part, err := c.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return "", usage("a line is longer than %d MiB", maxLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return "", err
		}
		return strings.TrimRight(string(line), "\r\n"), nil
	}
}

// edit begins to edit a line; done ends it.
func (c *console) edit(prompt string) (done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fd := int(c.in.Fd())
	if c.mode, err = term.MakeRaw(fd); err != nil {
		return nil, err
	}
	in := &interrupts{from: c.in}
	c.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, c.echo}, prompt)
	c.typed = in
	c.term.History = &c.history
	c.term.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || c.complete == nil {
			return "", 0, false
		}
		return c.complete(line, pos)
	}
	if w, h, err := term.GetSize(int(c.echo.Fd())); err == nil && w > 0 {
		_ = c.term.SetSize(w, h) // always nil
	}
	c.term.SetBracketedPasteMode(true)
	return c.restore, nil
}

// restore gives the terminal back as it was. It may be called at any time.
func (c *console) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unspin()
	if c.term == nil {
		return
	}
	c.term.SetBracketedPasteMode(false)
	_ = term.Restore(int(c.in.Fd()), c.mode) // there is nothing to do about it
	c.term = nil
}

// editedLine reads one line while editing; more says that it was pasted with others.
func (c *console) editedLine(prompt string, again bool) (line string, more bool, err error) {
	c.mu.Lock()
	t := c.term
	c.mu.Unlock()
	if t == nil {
		return "", false, io.EOF
	}
	t.SetPrompt(continued(prompt, again))
	line, err = t.ReadLine()
	switch {
	case errors.Is(err, term.ErrPasteIndicator):
		return line, true, nil
	case errors.Is(err, io.EOF) && c.typed.seen:
		return "", false, errInterrupt
	}
	return line, false, err
}

// interrupts notices Ctrl-C among what is typed: the editor takes it for the end.
type interrupts struct {
	from io.Reader
	seen bool
}

func (i *interrupts) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	i.seen = i.seen || strings.ContainsRune(string(p[:n]), 3)
	return n, err
}

// flush forgets what was typed already: it was not meant for a question that comes now.
func (c *console) flush() {
	if c.tty {
		pane.FlushInput(int(c.in.Fd()))
		c.lines.Reset(c.in)
	}
}

// print writes text that is safe for a terminal to one of the outputs.
func (c *console) print(to *os.File, text string) {
	if text == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unspin()
	switch {
	case c.term != nil && term.IsTerminal(int(to.Fd())):
		_, _ = c.term.Write([]byte(text)) // a terminal that is gone ends the reading, too
	case c.shown != "":
		_, _ = io.WriteString(to, "\n"+text)
		_, _ = io.WriteString(c.echo, c.shown)
	default:
		_, _ = io.WriteString(to, text)
	}
}

// stderr is the console as a writer for remarks.
type stderr struct{ *console }

func (w stderr) Write(p []byte) (int, error) {
	w.print(w.err, string(p))
	return len(p), nil
}

// spin says on a line of its own, until the next output, that work goes on.
func (c *console) spin(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.term != nil || dumb() || !term.IsTerminal(int(c.err.Fd())) {
		return
	}
	c.unspin()
	c.spun = len(text)
	_, _ = io.WriteString(c.err, text)
}

// calm ends that.
func (c *console) calm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unspin()
}

// unspin removes that line. The caller holds c.mu.
func (c *console) unspin() {
	if c.spun > 0 {
		_, _ = io.WriteString(c.err, "\r"+strings.Repeat(" ", c.spun)+"\r")
		c.spun = 0
	}
}

// typedLines are earlier inputs, for the editor. What it reads itself is added by add only:
// answers to questions are not for the history.
type typedLines struct{ all []string }

func (h *typedLines) add(line string) { h.all = append(h.all, line) }

// Add does nothing; see add.
func (h *typedLines) Add(string) {}

// Len is how many there are.
func (h *typedLines) Len() int { return len(h.all) }

// At returns one, the latest first, on one line and safe for a terminal.
func (h *typedLines) At(i int) string {
	return legible(strings.ReplaceAll(h.all[len(h.all)-1-i], "\n", " "))
}

// legible makes foreign text safe for a terminal, line by line, and keeps its tabs.
func legible(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		parts := strings.Split(l, "\t")
		for j, p := range parts {
			parts[j] = markup.Inline(p)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}
