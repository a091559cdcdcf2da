// Command serve is a model to try a program with by hand: it speaks Chat Completions,
// Responses and Anthropic's Messages on a port and changes a small Go project, see
// [modeltest.Coding].
//
//	go run ./agent/model/modeltest/serve -addr 127.0.0.1:8181 &
//	BUDDY_BASE_URL=http://127.0.0.1:8181/v1 buddy
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"buddy/agent/model/modeltest"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run serves until it is killed. Results go to stdout, all else to stderr.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8181", "address to listen on; port 0 takes a free one")
	pace := flags.Duration("pace", 15*time.Millisecond, "pause after each piece of an answer")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "serve:", err)
		return 1
	}
	_, _ = fmt.Fprintf(stdout, "http://%s/v1\n", l.Addr())
	srv := &http.Server{
		Handler:           modeltest.New(modeltest.Coding(modeltest.Chunks{Bytes: 12, Every: *pace})),
		ReadHeaderTimeout: 10 * time.Second,
	}
	if err := srv.Serve(l); err != nil {
		_, _ = fmt.Fprintln(stderr, "serve:", err)
	}
	return 1
}
