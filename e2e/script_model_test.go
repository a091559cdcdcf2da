package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// startModel serves a model for a script at $MODEL_URL, and as a server on this machine at $LOCAL_SERVER. It also serves
// a SearXNG at $SEARXNG_URL, which has no JSON below /html.
func startModel(env *testscript.Env) {
	s := httptest.NewServer(modeltest.New(scripted))
	env.Defer(func() {
		s.CloseClientConnections() // one may hang
		s.Close()
	})
	env.Setenv("MODEL_URL", s.URL+"/v1")
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"test model's.gguf","owned_by":"llamacpp"}]}`))
			return
		}
		s.Config.Handler.ServeHTTP(w, r)
	}))
	env.Defer(local.Close)
	searches := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/search" || r.URL.Query().Get("format") != "json" {
			http.Error(w, "Forbidden", http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": []map[string]string{
			{"title": "about " + r.URL.Query().Get("q"), "url": "https://found.example/", "content": "A \x1b[2Jsnippet."},
		}})
	}))
	env.Defer(searches.Close)
	env.Setenv("SEARXNG_URL", searches.URL)
	env.Setenv("LOCAL_SERVER", "llamacpp="+strings.TrimPrefix(local.URL, "http://127.0.0.1:"))
}

// promptIn removes the reminders at the start of a message, which leaves the person's words.
func promptIn(message string) string {
	for {
		rest, ok := strings.CutPrefix(message, "<system-reminder>")
		_, after, closed := strings.Cut(rest, "</system-reminder>")
		if !ok || !closed {
			return message
		}
		message = strings.TrimLeft(after, "\n")
	}
}

// opening returns the system prompt, and the description of the working environment in the first message.
func opening(r modeltest.Request) string {
	for _, m := range r.Messages {
		if m.Role == model.User {
			here, _, _ := strings.Cut(m.Content, "</system-reminder>")
			return r.Messages[0].Content + "\n\n" + here
		}
	}
	return r.Messages[0].Content
}

// unreminded removes the reminders after a prompt.
func unreminded(prompt string) string {
	for strings.HasSuffix(strings.TrimSpace(prompt), "</system-reminder>") {
		at := strings.LastIndex(prompt, "\n\n<system-reminder>")
		if at < 0 {
			break
		}
		prompt = prompt[:at]
	}
	return prompt
}

// lastMessage returns the last message of a request that is not a reminder.
func lastMessage(r modeltest.Request) model.Message {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != model.User || promptIn(m.Content) != "" {
			return m
		}
	}
	return model.Message{}
}

// scripted answers depending on the prompt: "answer:" is followed by answers, separated by bars, one for each rejected
// attempt. The answer HANG never ends, CALL runs a command, FOREIGN makes calls in other programs' formats, TOLD lists
// the tools, PATCH creates a file, ECHO is the whole prompt, SENT all of the person's texts, HISTORY all messages with
// their calls, SYSTEM the system prompt and the description of the working environment in JSON, MARKS the number of
// cache marks, LIMITED has headers with a rate limit, and FIELDS the members of a request besides its messages and
// tools. "USE TOOL ARGUMENTS THEN TOOL ARGUMENTS" calls tools one after the other and ends with the last result,
// STRANGE ends for an unknown reason, "CUT TEXT THEN TEXT" is cut off after the first text. PAUSE is silent for two
// seconds in the middle, BUSY is overloaded unless the model is n, MODEL is the model's name, COLD has no cached
// tokens, COUNTED does not report them, and SUMMARY is a summary by the server, then whether a request called the last
// answer empty.
func scripted(r modeltest.Request) modeltest.Answer {
	first, n, calls := "", 0, 0
	var results, latest []string // of all calls, and of those since the prompt
	for _, m := range r.Messages {
		switch {
		case m.Role == model.Tool:
			calls++
			results, latest = append(results, m.Content), append(latest, m.Content)
		case m.Role != model.User:
		case strings.Contains(m.Content, "does not fit the JSON Schema"):
			n++
		case strings.Contains(m.Content, "answer:"):
			first, n, latest = cmp.Or(promptIn(m.Content), m.Content), 0, nil
		}
	}
	_, list, _ := strings.Cut(first, "answer:")
	list, _, _ = strings.Cut(list, "\n")
	answers := strings.Split(list, "|")
	usage := modeltest.Usage{Prompt: 1000, Completion: 100, Cached: 400}
	text := strings.TrimSpace(answers[min(n, len(answers)-1)])
	if strings.HasPrefix(text, "SENT") { // the rest of the line belongs to surrounding text
		text = "SENT"
	}
	switch text {
	case "HANG":
		return modeltest.Answer{modeltest.Text("so far"), modeltest.Hang{}}
	case "STRANGE", "STRANGE half":
		return modeltest.Answer{modeltest.Text(strings.TrimSpace(strings.TrimPrefix(text, "STRANGE"))), modeltest.Finish("odd")}
	case "PAUSE":
		return modeltest.Answer{modeltest.Text("so far "), modeltest.Pause(2 * time.Second), modeltest.Text("and done")}
	case "BUSY":
		if r.Model != "n" {
			return modeltest.Answer{modeltest.Status{Code: http.StatusServiceUnavailable}}
		}
		return modeltest.Answer{modeltest.Text("by n")}
	case "MODEL":
		return modeltest.Answer{modeltest.Text("by " + r.Model)}
	case "COLD":
		return modeltest.Answer{modeltest.Text("ok"), modeltest.Usage{Prompt: 1000, Completion: 100}}
	case "COUNTED":
		return modeltest.Answer{modeltest.Text("ok"), modeltest.Event(`{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100}}`)}
	case "SUMMARY":
		if !bytes.Contains(r.Body, []byte("the server's summary")) {
			return modeltest.Answer{modeltest.Compaction("the server's summary")}
		}
		return modeltest.Answer{modeltest.Text(fmt.Sprintf("nudged: %v", bytes.Contains(r.Body, []byte("was empty"))))}
	case "CALL":
		return modeltest.Answer{modeltest.Call{ID: "c" + strings.Repeat("x", calls), Name: "run_shell", Arguments: `{"command":"true ` + strings.Repeat("x", calls) + `","why":"to see","risk":"low","mutation":false,"privesc":false}`}, usage}
	case "FOREIGN":
		return append(foreign(calls, results), usage)
	case "SYSTEM":
		system, _ := json.Marshal(opening(r))
		return modeltest.Answer{modeltest.Text(string(system)), usage}
	case "PATCH":
		if calls > 0 {
			return modeltest.Answer{modeltest.Text(results[0]), usage}
		}
		if !slices.ContainsFunc(r.Tools, func(d model.ToolDef) bool { return d.Name == "apply_patch" && d.Free != nil }) {
			return modeltest.Answer{modeltest.Text("a patch can't be free text"), usage}
		}
		return modeltest.Answer{modeltest.Call{ID: "p", Name: "apply_patch", Arguments: "*** Begin Patch\n*** Add File: new.txt\n+\"<&>\"\n*** End Patch\n"}, usage}
	case "SENT":
		var sent []string
		for _, m := range r.Messages {
			if m.Role == model.User {
				sent = append(sent, m.Content)
			}
		}
		return modeltest.Answer{modeltest.Text(strings.Join(sent, "\n")), usage}
	case "HISTORY":
		var all []string
		for _, m := range r.Messages {
			line := string(m.Role) + ": " + m.Content
			for _, c := range m.ToolCalls {
				line += " " + c.ID + "=" + c.Name + c.Arguments
			}
			all = append(all, line+" "+m.ToolCallID)
		}
		return modeltest.Answer{modeltest.Text(strings.Join(all, "\n")), usage}
	case "TOLD":
		return modeltest.Answer{modeltest.Text(toolsLine(r)), usage}
	case "MARKS":
		return modeltest.Answer{modeltest.Text(fmt.Sprintf("%d marks", strings.Count(string(r.Body), `"cache_control"`))), usage}
	case "FIELDS":
		return modeltest.Answer{modeltest.Text(fieldsOf(r.Body)), usage}
	case "LIMITED":
		return modeltest.Answer{modeltest.Headers{"x-ratelimit-limit-requests": "50", "x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "6m0s"}, modeltest.Text("ok"), usage}
	case "ECHO":
		return modeltest.Answer{modeltest.Text(first), usage}
	default:
		if parts, ok := strings.CutPrefix(text, "CUT "); ok {
			return append(cut(strings.Split(parts, " THEN "), r), usage)
		}
		if calling, ok := strings.CutPrefix(text, "USE "); ok {
			return append(use(strings.Split(calling, " THEN "), latest), usage)
		}
		return modeltest.Answer{modeltest.Text(text), usage}
	}
}

// cut returns the first part of an answer up to the output limit, and the second part when the model is asked to
// continue.
func cut(parts []string, r modeltest.Request) modeltest.Answer {
	goOn := func(m model.Message) bool { return strings.Contains(m.Content, "cut off at the output limit") }
	if slices.ContainsFunc(r.Messages, goOn) {
		return modeltest.Answer{modeltest.Text(parts[1])}
	}
	return modeltest.Answer{modeltest.Text(parts[0]), modeltest.Finish(model.FinishLength)}
}

// toolsLine returns the tools of a request on one line, with a checksum of everything before its messages and a line
// for one family.
func toolsLine(r modeltest.Request) string {
	sum := fnv.New64a()
	var names []string
	for _, d := range r.Tools {
		names = append(names, d.Name)
		_, _ = sum.Write(d.Parameters)
	}
	system := r.Messages[0].Content
	_, _ = sum.Write([]byte(system))
	says := ""
	if strings.Contains(system, "do not print the patch") {
		says = "do not print the patch"
	}
	return fmt.Sprintf("told: %s, %x %s", strings.Join(names, " "), sum.Sum64(), says)
}

// fieldsOf returns the members of a request's body except its messages and tools, as JSON.
func fieldsOf(body []byte) string {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return err.Error()
	}
	for _, long := range []string{"messages", "tools", "system", "input", "instructions"} {
		delete(all, long)
	}
	text, _ := json.Marshal(all)
	return string(text)
}

// use makes the next of some calls, or ends with the last result.
func use(calls, results []string) modeltest.Answer {
	if len(results) >= len(calls) {
		return modeltest.Answer{modeltest.Text(results[len(results)-1])}
	}
	name, args, _ := strings.Cut(calls[len(results)], " ")
	return modeltest.Answer{modeltest.Call{ID: fmt.Sprintf("u%d", len(results)), Name: name, Arguments: args}}
}
