package headless

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"buddy/agent/model"
	"buddy/app/exit"
	"buddy/app/input"
)

const (
	pipeWait = 3 * time.Second // for stdin, before a message explains the wait
	silence  = time.Second     // for the first byte on stdin in addition to a prompt, before exec answers without it
)

// request holds what exec sends to the model.
type request struct {
	text   string
	images []model.Image
}

// ReadPrompt returns the prompt: the argument, piped input, or both. With an argument, it does not wait for a pipe that
// stays silent, because programs that start buddy exec often leave stdin open. It then prints a message even with
// --quiet, because text that comes later is lost.
func ReadPrompt(args []string, stdin *os.File, end <-chan time.Time, once Options, stderr io.Writer) (request, error) {
	arg, given := "-", len(args) > 0
	if given {
		arg = args[0]
	}
	if arg != "-" && strings.TrimSpace(arg) == "" {
		return request{}, exit.Usage("the prompt is empty")
	}
	piped := ""
	if arg == "-" && given || pipedIn(stdin) {
		var err error
		if piped, err = readPipe(stdin, end, arg != "-", once, stderr); err != nil {
			return request{}, err
		}
	}
	r := request{text: arg}
	switch {
	case arg == "-":
		r.text = piped
	case strings.TrimSpace(piped) != "":
		r.text += "\n\n<stdin>\n" + strings.TrimSuffix(piped, "\n") + "\n</stdin>"
	}
	if strings.TrimSpace(r.text) == "" {
		if !given {
			return r, exit.Usage("exec needs a PROMPT as an argument or on stdin")
		}
		return r, exit.Usage("the prompt is empty")
	}
	if arg == "-" {
		arg = r.text
	}
	var err error
	if r.images, err = input.Attached(arg); err != nil { // names in piped input are not attached
		return r, exit.Failure(err)
	}
	return r, nil
}

// ReadText is ReadPrompt for prompts without pictures.
func ReadText(args []string, stdin *os.File, once Options, stderr io.Writer) (string, error) {
	r, err := ReadPrompt(args, stdin, nil, once, stderr)
	if err == nil && len(r.images) > 0 {
		err = exit.Usage("the prompt has pictures, which a durable run can't have: mention the files as text")
	}
	return r.text, err
}

// pipedIn reports whether stdin is a pipe or a file, which may hold text for the prompt.
func pipedIn(stdin *os.File) bool {
	fi, err := stdin.Stat()
	return err == nil && (fi.Mode().IsRegular() || fi.Mode()&os.ModeNamedPipe != 0)
}

// readPipe reads stdin. beside means that there is also a prompt argument; then readPipe gives up on a silent pipe and
// prints a message.
func readPipe(stdin io.Reader, end <-chan time.Time, beside bool, once Options, stderr io.Writer) (string, error) {
	var silent <-chan time.Time // nil is never
	if beside {
		silent = time.After(silence)
	}
	piped, err := readStdin(stdin, end, silent, once.Said(stderr))
	if errors.Is(err, errSilent) {
		_, _ = fmt.Fprintf(stderr, "buddy: no input on stdin within %v: answering without it (to wait for stdin, use - as the PROMPT; for no stdin, < /dev/null)\n", silence)
		return "", nil
	}
	return piped, err
}

// errSilent means that stdin had no input in time.
var errSilent = errors.New("no input on stdin")

// announced is a reader that closes the channel began when the first byte arrives.
type announced struct {
	io.Reader
	began chan struct{}
	once  sync.Once
}

func (a *announced) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.once.Do(func() { close(a.began) })
	}
	return n, err
}

// readStdin reads all of stdin. It gives up when end receives, or when silent receives before the first byte. After
// pipeWait it prints a message about the wait.
func readStdin(stdin io.Reader, end, silent <-chan time.Time, say io.Writer) (string, error) {
	type answer struct {
		data []byte
		err  error
	}
	all := make(chan answer, 1)
	in := &announced{Reader: stdin, began: make(chan struct{})}
	began := in.began
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, input.MaxPrompt+1))
		all <- answer{data, err}
	}()
	hint := time.After(pipeWait)
	for {
		select {
		case <-hint:
			_, _ = fmt.Fprintln(say, "buddy: waiting for the end of stdin (for no stdin, use < /dev/null)")
		case <-began:
			began, silent = nil, nil
		case <-silent:
			return "", errSilent
		case <-end:
			return "", exit.Error{Code: exit.Failed, Text: "stopped: stdin did not end within the timeout"}
		case in := <-all:
			switch {
			case in.err != nil:
				return "", exit.Error{Code: exit.Failed, Text: fmt.Sprintf("stdin: %v", in.err)}
			case len(in.data) > input.MaxPrompt:
				return "", exit.Usage("the prompt on stdin is larger than %d MiB", input.MaxPrompt>>20)
			}
			return strings.ToValidUTF8(string(in.data), "\uFFFD"), nil
		}
	}
}
