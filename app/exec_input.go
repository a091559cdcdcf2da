package app

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"buddy/agent/model"
)

const pipeWait = 3 * time.Second // for stdin, before a line says what is waited for

// request is what exec sends to the model.
type request struct {
	text   string
	images []model.Image
}

// readPrompt returns the prompt: the argument, what is piped in, or both.
func readPrompt(args []string, stdin *os.File, end <-chan time.Time, say io.Writer) (request, error) {
	arg, given := "-", len(args) > 0
	if given {
		arg = args[0]
	}
	if arg != "-" && strings.TrimSpace(arg) == "" {
		return request{}, usage("the prompt is empty")
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
			return r, usage("exec takes a PROMPT, as its argument or on stdin")
		}
		return r, usage("the prompt is empty")
	}
	if arg == "-" {
		arg = r.text
	}
	var err error
	if r.images, err = attached(arg); err != nil { // names in what was piped in mean nothing
		return r, failed(err)
	}
	return r, nil
}

// pipedIn reports whether somebody gave stdin on purpose: a pipe or a file. A terminal, a
// socket and /dev/null have no text for the prompt.
func pipedIn(stdin *os.File) bool {
	fi, err := stdin.Stat()
	return err == nil && (fi.Mode().IsRegular() || fi.Mode()&os.ModeNamedPipe != 0)
}

// readStdin reads all of it, until it has taken too long. Who gave a pipe without knowing
// reads what is waited for.
func readStdin(stdin io.Reader, end <-chan time.Time, say io.Writer) (string, error) {
	type answer struct {
		data []byte
		err  error
	}
	all := make(chan answer, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(stdin, maxPrompt+1))
		all <- answer{data, err}
	}()
	hint := time.After(pipeWait)
	for {
		select {
		case <-hint:
			_, _ = fmt.Fprintln(say, "buddy: waiting for the end of stdin (< /dev/null gives none)")
		case <-end:
			return "", exit{code: exitFailed, text: "stopped: stdin did not end within the timeout"}
		case in := <-all:
			switch {
			case in.err != nil:
				return "", exit{code: exitFailed, text: fmt.Sprintf("stdin: %v", in.err)}
			case len(in.data) > maxPrompt:
				return "", usage("the prompt on stdin is larger than %d MiB", maxPrompt>>20)
			}
			return strings.ToValidUTF8(string(in.data), "\uFFFD"), nil
		}
	}
}
