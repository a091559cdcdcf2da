package repl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"buddy/app/exit"
	"buddy/app/input"
	"buddy/app/keymap"
	"buddy/views/edit"
	"buddy/views/markup"
)

// console is a terminal or pipe that is read line by line. Output that arrives while a line is typed appears above the
// line. Only one goroutine at a time may call read.
type console struct {
	in       *os.File
	lines    *bufio.Reader // buffers in if it is not a terminal
	out, err *os.File
	echo     *os.File // for prompts
	tty      bool     // in is a terminal
	edits    bool     // lines are edited here: in and echo are a terminal that can move its cursor
	keys     *keymap.Map
	complete func(word, before string) (becomes string, choices []string)
	earlier  []string // inputs, for the line editor

	mu     sync.Mutex // guards the fields below
	broken error      // the first error of writing to out
	drawn
	typedAhead
}

// drawn describes what is shown in a console's last row.
type drawn struct {
	line  *lineEditor // nil if no line is edited here
	mode  *term.State // of the terminal before editing
	shown string      // the prompt of a line that the terminal edits
	spun  string      // the progress text
}

func newConsole(stdin, stdout, stderr *os.File) *console {
	c := &console{in: stdin, lines: bufio.NewReaderSize(stdin, 64<<10), out: stdout, err: stderr, echo: stdout, keys: keymap.Default()}
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

// maxLine limits a line that does not come from the line editor, in bytes.
const maxLine = input.MaxPrompt

// read returns a line, io.EOF at the end, or errInterrupt. Lines that were pasted together or end in a backslash form
// one input.
func (c *console) read(prompt string) (string, error) {
	if !c.tty {
		return c.plainLine()
	}
	if c.edits {
		return c.joined(func(again bool) (string, error) {
			return c.edited(&lineEditor{
				keys: c.keys, editor: edit.New(), prompt: continued(prompt, again), earlier: c.earlier, complete: c.complete,
			})
		})
	}
	return c.joined(func(again bool) (string, error) {
		return c.terminalLine(continued(prompt, again))
	})
}

// readUnseen reads a line from the terminal without echo.
func (c *console) readUnseen(prompt string) (string, error) {
	if c.edits {
		return c.edited(&lineEditor{keys: c.keys, editor: edit.New(), prompt: prompt, hidden: true})
	}
	done := c.prompting(prompt)
	line, err := term.ReadPassword(int(c.in.Fd()))
	done()
	c.print(c.echo, "\n")
	return string(line), err
}

// prompting shows a prompt until done is called.
func (c *console) prompting(prompt string) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = prompt
	if !c.quiet {
		c.unspin()
		c.show(prompt)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.shown = ""
	}
}

// continuation is the prompt of the later lines of one input.
const continuation = "...... "

func continued(prompt string, again bool) string {
	if again {
		return continuation
	}
	return prompt
}

// joined reads lines with next until a line does not end in a backslash, and joins them into one input.
func (c *console) joined(next func(again bool) (line string, err error)) (string, error) {
	var all []string
	for size := 0; ; {
		line, err := next(len(all) > 0)
		if errors.Is(err, errEdit) {
			return strings.Join(append(all, line), "\n"), err
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(all) == 0) {
			return "", err
		}
		rest, more := strings.CutSuffix(line, "\\")
		all = append(all, rest)
		if size += len(line) + 1; !more || size > input.MaxPrompt {
			return strings.Join(all, "\n"), nil
		}
	}
}

// plainLine reads a line from a pipe or file.
func (c *console) plainLine() (string, error) {
	var line []byte
	for {
		part, err := c.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return "", exit.Usage("a line is longer than %d MiB", maxLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return "", err
		}
		return strings.TrimRight(string(line), "\r\n"), nil
	}
}

// edited reads a line with the line editor.
func (c *console) edited(t *lineEditor) (string, error) {
	if err := c.edit(t); err != nil {
		return "", err
	}
	defer c.restore()
	for {
		done, err := c.use(t)
		if done {
			return t.editor.Text(), err
		}
		if err := c.fetch(); err != nil {
			if errors.Is(err, errYield) {
				c.leave()
			}
			return "", err
		}
	}
}

// use passes the typed bytes to the line editor, up to the end of the line.
func (c *console) use(t *lineEditor) (done bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		p, n := decode(c.ahead)
		c.ahead = c.ahead[n:]
		switch {
		case n == 0:
			if len(c.ahead) > 0 || !t.editor.Empty() {
				c.loud()
			}
			if !c.quiet {
				c.show(t.row(c.columns()))
			}
			return false, nil
		case p.paste != "":
			t.editor.Paste(p.paste)
		case p.key != nil:
			var note string
			if done, note, err = t.key(p.key); done {
				c.loud()
				c.show(t.finished(c.columns()))
				return true, err
			}
			if note != "" {
				c.show("\r\x1b[K" + markup.Plain(note) + "\r\n")
			}
		}
	}
}

// minTyping is the minimum width for typed text, in columns.
const minTyping = 10

// edit starts to edit a line.
func (c *console) edit(t *lineEditor) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fd := int(c.in.Fd())
	c.lined = c.waiting()
	if c.mode, err = term.MakeRaw(fd); err != nil {
		return err
	}
	c.line = t
	c.show("\x1b[?2004h") // marks pasted text
	t.prompt = c.fitting(t.prompt)
	return nil
}

// fitting returns the prompt, or a short one if the prompt would leave no room to type. It then prints the prompt on a
// row above.
func (c *console) fitting(prompt string) string {
	if markup.Width([]byte(prompt)) <= c.columns()-minTyping {
		return prompt
	}
	c.show(prompt + "\r\n")
	return "> "
}

// restore restores the terminal. It may be called at any time.
func (c *console) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unspin()
	if c.line == nil {
		return
	}
	c.show("\x1b[?2004l")
	_ = term.Restore(int(c.in.Fd()), c.mode) // an error can't be handled
	c.line = nil
}

// show writes to the terminal on which lines are edited. Errors are ignored, because reading fails, too, if the
// terminal is gone.
func (c *console) show(text string) { _, _ = io.WriteString(c.echo, text) }

func (c *console) columns() int {
	if w, _, err := term.GetSize(int(c.echo.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

// print writes terminal-safe text to one of the outputs.
func (c *console) print(to *os.File, text string) {
	if text == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unspin()
	switch {
	case c.line != nil && c.quiet && term.IsTerminal(int(to.Fd())):
		c.write(to, strings.ReplaceAll(text, "\n", "\r\n"))
	case c.line != nil && term.IsTerminal(int(to.Fd())):
		c.show("\r\x1b[K" + strings.ReplaceAll(text, "\n", "\r\n") + c.line.row(c.columns()))
	case c.shown != "" && !c.quiet:
		c.write(to, "\n"+text)
		_, _ = io.WriteString(c.echo, c.shown)
	default:
		c.write(to, text)
	}
}

// write writes text, and records the first error of a write to c.out, where the model's answers go. The caller holds
// c.mu.
func (c *console) write(to *os.File, text string) {
	if _, err := io.WriteString(to, text); err != nil && to == c.out && c.broken == nil {
		c.broken = err
	}
}

// unwritten returns an error if the model's answers could not be written.
func (c *console) unwritten() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		return nil
	}
	return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("stdout: %v", c.broken)}
}

// stderr is the console as a writer for remarks.
type stderr struct{ *console }

func (w stderr) Write(p []byte) (int, error) {
	w.print(w.err, string(p))
	return len(p), nil
}

// spin shows a progress text on a line of its own until the next output.
func (c *console) spin(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line != nil && !c.quiet || dumb() || c.spun == text || !term.IsTerminal(int(c.err.Fd())) {
		return
	}
	c.unspin()
	c.spun = text
	_, _ = io.WriteString(c.err, text)
}

// calm removes the progress text.
func (c *console) calm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unspin()
}

// unspin removes the progress text. The caller holds c.mu.
func (c *console) unspin() {
	if c.spun != "" {
		_, _ = io.WriteString(c.err, "\r"+strings.Repeat(" ", len(c.spun))+"\r")
		c.spun = ""
	}
}
