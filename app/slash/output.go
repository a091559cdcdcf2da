package slash

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"buddy/app/state"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/views/dialog"
	"buddy/views/words"
)

// Pieces are several texts as one.
type Pieces []piece

type piece struct {
	io.ReaderAt
	size int64
}

// ReadAt reads across the borders of the pieces.
func (p Pieces) ReadAt(b []byte, off int64) (n int, err error) {
	for _, q := range p {
		if off >= q.size {
			off -= q.size
			continue
		}
		part := b[n:]
		part = part[:min(int64(len(part)), q.size-off)]
		got, err := q.ReadAt(part, off)
		n += got
		if got < len(part) {
			return n, err
		}
		if off = 0; n == len(b) {
			return n, nil
		}
	}
	return n, io.EOF
}

// Size returns how many bytes there are.
func (p Pieces) Size() (n int64) {
	for _, q := range p {
		n += q.size
	}
	return n
}

// Say adds a text of ours.
func (p *Pieces) Say(text string) {
	p.Add(strings.NewReader(text), int64(len(text)))
}

// Add adds what can be read from somewhere, size bytes.
func (p *Pieces) Add(text io.ReaderAt, size int64) { *p = append(*p, piece{text, size}) }

// Document is the whole output of a call: both streams of a command from their files, as
// far as they are recorded, else the file that its result names, else what was kept of it,
// else the result. The caller closes it.
func Document(c *state.Call) (dialog.Document, error) {
	said := words.Call{Name: c.Name, Arguments: c.Arguments, Action: c.Action}
	title := cmp.Or(c.Action.Command, said.Line())
	if c.Terminal {
		return terminalDocument(c, title)
	}
	var p Pieces
	var files []*os.File
	d := dialog.Document{Title: title, Close: func() {
		for _, f := range files {
			_ = f.Close() // only read
		}
	}}
	add := func(path string) (int64, error) {
		f, size, err := openRegular(path)
		if err == nil {
			files = append(files, f)
			p.Add(f, size)
		}
		return size, err
	}
	var errs error
	for _, stream := range OutputFiles(c) {
		if _, err := os.Stat(stream.Path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if len(p) > 0 {
			p.Say(stream.head)
		}
		size, err := add(stream.Path)
		errs = errors.Join(errs, err)
		if tail, err := os.Stat(stream.Path + ".tail"); err == nil && size > 0 { // an older version recorded it
			p.Say(fmt.Sprintf("\n… some output was not recorded; the last %d KB follow\n", tail.Size()>>10))
			_, err = add(stream.Path + ".tail")
			errs = errors.Join(errs, err)
		}
	}
	if len(p) == 0 && errs == nil {
		p.Say(cmp.Or(string(c.Output.Buf), c.Result))
	}
	if errs != nil {
		d.Close()
		return dialog.Document{}, errs
	}
	d.Text, d.Size = p, p.Size()
	return d, nil
}

// maxTerminal limits how much text of a terminal is kept, in bytes.
const maxTerminal = 16 << 20

// terminalDocument returns what could be read of the output of a call that had a terminal to
// itself. What it drew on the whole screen makes no text, and is left out.
func terminalDocument(c *state.Call, title string) (dialog.Document, error) {
	var text []byte
	more := int64(0)
	screen := ansi.NewScreen(func(p []byte) {
		n := min(len(p), maxTerminal-len(text))
		text = append(text, p[:n]...)
		more += int64(len(p) - n)
	})
	for _, stream := range OutputFiles(c) {
		f, _, err := openRegular(stream.Path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return dialog.Document{}, err
		}
		_, err = io.Copy(screen, f)
		_ = f.Close() // only read
		if err != nil {
			return dialog.Document{}, err
		}
	}
	screen.Close()
	var p Pieces
	p.Say(strings.ToValidUTF8(string(text), "\uFFFD"))
	if more > 0 {
		p.Say(fmt.Sprintf("\n… %s more are not shown\n", texts.ByteCount(more)))
	}
	if screen.Full {
		p.Say("\n… full-screen output is not shown\n")
	}
	return dialog.Document{Title: title, Text: p, Size: p.Size(), Close: func() {}}, nil
}

// OutputFile is a file with output, and what is said before it if it is not the first.
type OutputFile struct{ Path, head string }

// OutputFiles are the files that may hold the output of a call.
func OutputFiles(c *state.Call) []OutputFile {
	var files []OutputFile
	if c.Dir != "" {
		for _, dir := range []string{c.Dir, c.Dir + "-plain"} {
			files = append(files, OutputFile{filepath.Join(dir, "out"), ""}, OutputFile{filepath.Join(dir, "err"), "\n── stderr ──\n"})
		}
	}
	if c.Full != nil && filepath.Dir(c.Full.Path) != c.Dir && filepath.Dir(c.Full.Path) != c.Dir+"-plain" || c.Full != nil && filepath.Base(c.Full.Path) == "result.txt" {
		files = append(files, OutputFile{c.Full.Path, ""})
	}
	return files
}

// openRegular opens a file, but nothing that reading may wait for.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// CallBack returns one of the calls of a conversation: the one that began the subagent #N, or the N-th last.
func CallBack(newest iter.Seq[*state.Block], args string) (*state.Call, error) {
	number, agent := strings.CutPrefix(cmp.Or(args, "1"), "#")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%q is neither an agent's number, such as #2, nor a call counted from the last (1)", args)
	}
	for b := range newest {
		switch c := b.Call; {
		case c == nil:
		case agent:
			if c.Agent != nil && c.Agent.ID == n {
				return c, nil
			}
		default:
			if n--; n == 0 {
				return c, nil
			}
		}
	}
	return nil, errors.New("no such call")
}
