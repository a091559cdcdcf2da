package repl

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/term"

	"buddy/app/input"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/views/markup"
)

// The commands in this file print what the full screen shows in panes and dialogs.

// lookBack reads the whole session from its file and prints the text that show returns for it.
func (r *repl) lookBack(what string, show func(*past) (string, error)) {
	r.runBeforeNext(func() func() {
		all, err := readPast(r.program.Journal.Range)
		text := ""
		if err == nil {
			text, err = show(all)
		}
		return func() {
			if err != nil {
				r.failed(what, err)
				return
			}
			r.printLine(text)
		}
	})
}

func lineFind(r *repl, text string) error {
	if text == "" {
		return errors.New("name a text to find: /find TEXT")
	}
	r.lookBack("/find", func(all *past) (string, error) { return all.find(text), nil })
	return nil
}

// lineOutput prints the end of a call's output and, if the output was cut, the names of the files that hold all of it.
func lineOutput(r *repl, args string) error {
	r.lookBack("/output", func(all *past) (string, error) {
		c, err := slash.CallBack(state.Newest(all.state.Blocks), args)
		if err != nil {
			return "", err
		}
		if len(c.Output.Buf) == 0 {
			c.Output.Set(all.out[c.ID])
		}
		d, err := slash.Document(c)
		if err != nil {
			return "", err
		}
		defer d.Close()
		text, cut, err := tail(d)
		switch {
		case cut:
			text += wholeFiles(c)
		case strings.TrimSpace(text) == "":
			text = "(no output)"
		}
		return markup.Shorten(d.Title, 200) + "\n" + text, err
	})
	return nil
}

// maxListed limits the listed names of omitted files.
const maxListed = 20

// boundDiff returns the start of a diff, with the names of the omitted files.
func boundDiff(diff string) string {
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	if len(lines) <= maxShown {
		return strings.Join(lines, "\n")
	}
	shown, rest := lines[:maxShown], lines[maxShown:]
	text := strings.Join(shown, "\n") + fmt.Sprintf("\n… %d more lines", len(rest))
	for i, n := 0, 0; i < len(rest); i++ {
		name, ok := strings.CutPrefix(rest[i], markup.FileMark)
		if !ok {
			continue
		}
		if n++; n > maxListed {
			return text + "\n… and more files"
		}
		text += "\n  " + name
	}
	return text
}

func lineCopy(r *repl, args string) error {
	r.lookBack("/copy", func(all *past) (string, error) {
		text, err := slash.ToCopy(state.Newest(all.state.Blocks), args)
		if err != nil {
			return "", err
		}
		return r.con.copy(text)
	})
	return nil
}

// copy copies text to the clipboard in every available way, and returns a message that names the ways.
func (c *console) copy(text string) (string, error) {
	message, err := slash.Copied(text)
	if err != nil {
		return "", err
	}
	ways, err := input.Copy(text)
	if !dumb() && term.IsTerminal(int(c.echo.Fd())) {
		c.print(c.echo, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\a")
		ways = append(ways, "the terminal (OSC 52), if the terminal allows it")
	}
	switch {
	case len(ways) == 0 && err == nil:
		return "", errors.New("no clipboard found: copying needs a terminal with OSC 52, tmux, or wl-copy, xclip or xsel on a desktop")
	case len(ways) == 0:
		return "", err
	case err != nil:
		message += ", but not " + err.Error()
	}
	return message + " through " + strings.Join(ways, " and "), nil
}

// edit opens a text in the user's editor, and handles the edited text as if it had been typed as a line. was is the
// line's purpose.
func (r *repl) edit(was wants, text string) {
	r.wants = was
	if !r.con.tty {
		r.printLine("/edit: there is no terminal for an editor")
		return
	}
	editor := input.Editor()
	text, err := input.EditText("prompt.md", text, editor)
	text = strings.TrimRight(text, "\n")
	switch {
	case err != nil:
		r.printLine("/edit: " + err.Error())
	case strings.TrimSpace(text) == "":
		r.printLine("nothing sent: the text from " + editor + " is empty")
	default:
		r.printLine("> " + strings.ReplaceAll(text, "\n", "\n"+continuation))
		r.typedIn(typedLine{text: text})
	}
}
