//go:build !linux

package tmux_test

import "testing"

func mountSmall(t *testing.T, _ string) { t.Skip("needs Linux") }
