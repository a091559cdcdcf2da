package e2e

import (
	"os"

	"buddy/features/lsp/lsptest"
)

// lspServer is a language server on its standard input and output. With an argument it first creates the file of that
// name.
func lspServer() {
	if len(os.Args) > 1 {
		_ = os.WriteFile(os.Args[1], nil, 0o600)
	}
	(&lsptest.Server{}).Serve(os.Stdin, os.Stdout)
}
