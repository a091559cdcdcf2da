package headless

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"buddy/agent/model"
	"buddy/app/exit"
	"buddy/app/input"
)

const pipeWait = 3 * time.Second // for stdin, before a line says what is waited for

// request holds what exec sends to the model.
type request struct {
	text   string
	images []model.Image
}

// ReadPrompt returns the prompt: the argument, what is piped in, or both.
func ReadPrompt(args []string, stdin *os.File, end <-chan time.Time, say io.Writer) (request, error) {
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
		if piped, err = readStdin(stdin, end, say); err != nil {
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
			return r, exit.Usage("exec takes a PROMPT, as its argument or on stdin")
		}
		return r, exit.Usage("the prompt is empty")
	}
	if arg == "-" {
		arg = r.text
	}
	var err error
	if r.images, err = input.Attached(arg); err != nil { // names in what was piped in mean nothing
		return r, exit.Failure(err)
	}
	return r, nil
}

// pipedIn reports whether somebody gave stdin on purpose: a pipe or a file. A terminal, a
// socket and /dev/null have no text for the prompt.
func pipedIn(stdin *os.File) bool {
	fi, err := stdin.Stat()
	return err == nil && (fi.Mode().IsRegular() || fi.Mode()&os.ModeNamedPipe != 0)
}

// readStdin reads all of it, until it has taken too long. A person who gave a pipe without knowing
// reads what is waited for.
func readStdin(stdin io.Reader, end <-chan time.Time, say io.Writer) (string, error) {
	type answer struct {
		data []byte
		err  error
	}
	all := make(chan answer, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(stdin, input.MaxPrompt+1))
		all <- answer{data, err}
	}()
	hint := time.After(pipeWait)
	for {
		select {
		case <-hint:
			_, _ = fmt.Fprintln(say, "buddy: waiting for the end of stdin (< /dev/null gives none)")
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
