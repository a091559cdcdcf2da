package acp

import (
	"io"

	"buddy/app/compose"
)

// Check is the self-test.
func Check(*compose.Options, io.Writer) error { return nil }
