package main

import (
	"strings"
	"testing"
)

func TestWrongUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-nope"}, 2, "flag provided but not defined: -nope"},
		{[]string{"-addr", "127.0.0.1:nope"}, 1, "serve: listen tcp"},
		{[]string{"-h"}, 0, "-pace"},
	} {
		var out, errs strings.Builder
		if code := run(tt.args, &out, &errs); code != tt.code || !strings.Contains(errs.String(), tt.want) || out.Len() > 0 {
			t.Errorf("run(%v) = %d, %q, %q", tt.args, code, out.String(), errs.String())
		}
	}
}
