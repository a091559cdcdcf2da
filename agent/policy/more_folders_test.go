package policy

import (
	"strings"
	"testing"

	"buddy/agent/action"
)

// More folders (--add-dir) count exactly like the workspace.
func TestAlso(t *testing.T) {
	p := Policy{Workspace: "/w", Also: []string{"/home/ann/lib", "/etc/nginx"}}
	for _, tt := range []struct {
		name string
		act  action.Action
		mode action.Mode
		want action.Decision
	}{
		{"read", read("/home/ann/lib/a.go"), action.ModeAsk, action.Allow},
		{"read beside it", read("/home/ann/lib2/a.go"), action.ModeAsk, action.Ask},
		{"read a secret", read("/home/ann/lib/.env"), action.ModeAsk, action.Ask},
		{"write", write("/home/ann/lib/a.go"), action.ModeEdits, action.Allow},
		{"write the folder itself", write("/home/ann/lib"), action.ModeEdits, action.Ask},
		{"write in the system, where it was named", write("/etc/nginx/nginx.conf"), action.ModeAsk, action.Ask},
		{"write in the system, elsewhere", write("/etc/hosts"), action.ModeAll, action.Deny},
		{"write a key", write("/home/ann/lib/.ssh/id"), action.ModeAll, action.Deny},
	} {
		if got := p.Judge(tt.act, tt.mode); got.Decision != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, got, tt.want)
		}
	}
	if got := p.Judge(read("/root/x"), action.ModeAsk).Reason; !strings.Contains(got, "/w, /home/ann/lib, /etc/nginx") {
		t.Errorf("reason %q", got)
	}
}
