package e2e

import (
	"fmt"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// TestOutageThenEnter: Enter continues a prompt that ended with the provider's outage, including the work done before.
func TestOutageThenEnter(t *testing.T) {
	t.Parallel()
	down := modeltest.Answer{modeltest.Status{Code: 503, Body: `{"error":{"message":"no healthy upstream"}}`}}
	n := 0
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		switch n++; {
		case n == 1:
			return modeltest.Answer{modeltest.Call{ID: "c1", Name: "run_shell", Arguments: `{"command":"pwd","why":"to test","risk":"low","mutation":false,"privesc":false}`}}
		case n <= 7:
			return down
		case lastOf(req, model.Tool) == "":
			return modeltest.Answer{modeltest.Text("The result was lost.")}
		}
		return modeltest.Answer{modeltest.Text("The server is back.")}
	})
	x.send("where are we")
	for attempt := 4; attempt <= 6; attempt++ { // the waits before are short
		x.wantText(fmt.Sprintf("(%d of 6)", attempt))
		x.keys("Enter")
	}
	x.wantText("503 service unavailable: no healthy upstream (tried 6 times)", "Interrupted · press Enter to continue")
	x.keys("Enter")
	x.want("The server is back.")
	x.quit()
}
