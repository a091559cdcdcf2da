package action

import (
	"encoding/json"
	"reflect"
	"testing"
)

// The JSON form is a public interface of events.
func TestJSON(t *testing.T) {
	a := Action{
		Kind: Shell, Tool: "run_shell", Target: "local", Command: "sudo x", Cwd: "/w", Path: "/p", Paths: []string{"/p", "/q"}, URL: "https://u/", Host: "u", Method: "GET",
		Preview: "p", Why: "w", Risk: High, Mutation: true, Privesc: true,
	}
	v := Verdict{Decision: Ask, Reason: "r", Rule: "default"}
	tests := []struct {
		v    any
		want string
	}{
		{a, `{"kind":"shell","tool":"run_shell","target":"local","command":"sudo x","cwd":"/w","path":"/p","paths":["/p","/q"],"url":"https://u/","host":"u","method":"GET","preview":"p","why":"w","risk":"high","mutation":true,"privesc":true}`},
		{Action{}, `{"kind":"","tool":""}`},
		{v, `{"decision":"ask","reason":"r","rule":"default"}`},
	}
	for _, tt := range tests {
		if got, err := json.Marshal(tt.v); err != nil || string(got) != tt.want {
			t.Errorf("encodes as %s (%v), want %s", got, err, tt.want)
		}
	}
	web := Action{Kind: Network, Tool: "fetch_url", URL: "https://go.dev/x", Host: "go.dev", Method: "GET", Op: "get"}
	if got, err := json.Marshal(web); err != nil || string(got) != `{"kind":"network","tool":"fetch_url","url":"https://go.dev/x","host":"go.dev","method":"GET","op":"get"}` {
		t.Errorf("encodes as %s (%v)", got, err)
	}
	var back Action
	if err := json.Unmarshal([]byte(tests[0].want), &back); err != nil || !reflect.DeepEqual(back, a) {
		t.Errorf("comes back as %+v (%v), want %+v", back, err, a)
	}
}
