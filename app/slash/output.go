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

// Pieces is an io.ReaderAt that joins several texts.
type Pieces []piece

type piece struct {
	io.ReaderAt
	size int64
}

// ReadAt reads across the borders of pieces.
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

// Size returns the total number of bytes.
func (p Pieces) Size() (n int64) {
	for _, q := range p {
		n += q.size
	}
	return n
}

// Say appends a text that is not part of the output.
func (p *Pieces) Say(text string) {
	p.Add(strings.NewReader(text), int64(len(text)))
}

// Add appends size bytes of text.
func (p *Pieces) Add(text io.ReaderAt, size int64) { *p = append(*p, piece{text, size}) }

// Document returns the whole output of a call, from the first of these sources that exists: the files with a command's
// output streams, the file named in its result, the output kept in memory, the result. The caller closes the document.
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

// maxTerminal limits the text kept from a terminal, in bytes.
const maxTerminal = 16 << 20

// terminalDocument returns the readable output of a call that had its own terminal. Full-screen drawing is not text and
// is left out.
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

// OutputFile is a file with output, and the heading printed before it unless it is the first.
type OutputFile struct{ Path, head string }

// OutputFiles returns the files that may hold the output of a call.
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

// openRegular opens a regular file only, because reading others may block.
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

// CallBack returns one call of a conversation: the one that started subagent #N, or the N-th last.
func CallBack(newest iter.Seq[*state.Block], args string) (*state.Call, error) {
	number, agent := strings.CutPrefix(cmp.Or(args, "1"), "#")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%q is neither an agent's number, such as #2, nor a call's, where 1 is the last", args)
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
