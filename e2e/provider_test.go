package e2e

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// provider is a server of Chat Completions for one run of the real program.
type provider struct {
	dir      string // where it runs; "" is a new folder
	requests [][]byte
	answer   func(w http.ResponseWriter, body []byte)
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") { // a query for the context window of a local server
		http.NotFound(w, r)
		return
	}
	p.requests = append(p.requests, body)
	p.answer(w, body)
}

// streams answers with one text, and the given usage.
func streams(w http.ResponseWriter, text, usage string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q},\"finish_reason\":\"stop\"}],\"usage\":%s}\n\ndata: [DONE]\n\n", text, usage)
}

// refuses answers with an error status.
func refuses(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// exec runs buddy exec with a prompt, and returns its output and exit code.
func (p *provider) exec(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	srv := httptest.NewServer(p)
	defer srv.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "buddy.toml")
	conf := "[models.test]\napi_base_url = \"" + srv.URL + "/v1\"\napi = \"completions\"\napi_key = \"\"\nmodel = \"test\"\ncontext_limit = 100000\n"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "buddy", append([]string{"exec", "--config", file}, args...)...)
	cmd.Dir = cmp.Or(p.dir, dir)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/.config", "XDG_STATE_HOME="+dir+"/.state", "XDG_RUNTIME_DIR="+dir, "BUDDY_TMUX_SOCKET="+dir+"/tmux", "TMUX=")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return out.String(), errs.String(), code
}

// TestLimitThatNeverPasses: a request that alone exceeds the limit per minute is not sent again, because waiting does
// not help.
func TestLimitThatNeverPasses(t *testing.T) {
	t.Parallel()
	p := &provider{answer: func(w http.ResponseWriter, _ []byte) {
		refuses(w, 429, `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 41210. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`)
	}}
	_, errs, code := p.exec(t, "hi")
	if len(p.requests) != 1 || code == 0 || !strings.Contains(errs, "Limit 30000, Requested 41210") || !strings.Contains(errs, "--model chooses another model") {
		t.Errorf("%d requests, exit %d:\n%s", len(p.requests), code, errs)
	}
}

// TestQuotaThatIsUsedUp: the time when the quota is renewed is reported at once.
func TestQuotaThatIsUsedUp(t *testing.T) {
	t.Parallel()
	back := time.Now().Add(2 * time.Hour)
	p := &provider{answer: func(w http.ResponseWriter, _ []byte) {
		refuses(w, 429, fmt.Sprintf(`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"free","resets_at":%d}}`, back.Unix()))
	}}
	_, errs, code := p.exec(t, "hi")
	if len(p.requests) != 1 || code == 0 || !strings.Contains(errs, "The usage limit has been reached") || !strings.Contains(errs, "requests are accepted again at "+back.Format("15:04")) {
		t.Errorf("%d requests, exit %d:\n%s", len(p.requests), code, errs)
	}
}

// TestCostOfAGateway: the cost reported by the gateway counts, in the usage or in LiteLLM's header.
func TestCostOfAGateway(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, _ []byte){
		"in the usage": func(w http.ResponseWriter, _ []byte) {
			streams(w, "hi", `{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"cost":0.0123,"cost_details":{"upstream_inference_cost":0.01}}`)
		},
		"in a header": func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("X-Litellm-Response-Cost", "0.0123")
			streams(w, "hi", `{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}`)
		},
	} {
		p := &provider{answer: answer}
		out, errs, code := p.exec(t, "--json", "hi")
		var cost, unpriced int64
		for line := range strings.Lines(out) {
			var e struct {
				Type    string
				Payload struct {
					Cost     int64 `json:"session_cost"`
					Unpriced int64 `json:"session_unpriced"`
				}
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Type == "metrics.usage" {
				cost, unpriced = e.Payload.Cost, e.Payload.Unpriced
			}
		}
		if code != 0 || cost != 12_300 || unpriced != 0 {
			t.Errorf("%s: exit %d, %d micro-dollars, %d requests without a price\n%s%s", name, code, cost, unpriced, out, errs)
		}
	}
}

// TestSchemasHaveTypes: a server that requires a type in every property of a tool accepts all offered tools.
func TestSchemasHaveTypes(t *testing.T) {
	t.Parallel()
	p := &provider{answer: func(w http.ResponseWriter, body []byte) {
		if i := bytes.Index(body, []byte(`:{}`)); i >= 0 {
			refuses(w, 400, fmt.Sprintf(`{"error":{"message":%q}}`, "JSON Schema not supported: could not understand the instance "+string(body[max(0, i-40):i+3])))
			return
		}
		streams(w, "fine", "null")
	}}
	out, errs, code := p.exec(t, "hi")
	if code != 0 || !strings.Contains(out, "fine") || !bytes.Contains(p.requests[0], []byte(`"use_tool"`)) {
		t.Errorf("exit %d:\n%s%s", code, out, errs)
	}
}

// sentPicture finds the pictures in a request.
var sentPicture = regexp.MustCompile(`data:image/(?:png|jpeg);base64,([A-Za-z0-9+/=]+)`)

// TestPicturesAreMadeToFit: a picture that is too wide for a server is scaled down before it is sent, whether the
// prompt names it or a tool reads it.
func TestPicturesAreMadeToFit(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 9000, 200))); err != nil {
		t.Fatal(err)
	}
	p := &provider{dir: t.TempDir()}
	for _, name := range []string{"named.png", "read.png"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.answer = func(w http.ResponseWriter, body []byte) {
		all := sentPicture.FindAllSubmatch(body, -1)
		for _, m := range all {
			data, err := base64.StdEncoding.DecodeString(string(m[1]))
			if err != nil {
				t.Error(err)
			}
			if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || c.Width != 2000 || c.Height != 44 {
				refuses(w, 400, fmt.Sprintf(`{"error":{"message":"image dimensions exceed max allowed size: %d pixels"}}`, c.Width))
				return
			}
		}
		if len(all) == 2 {
			streams(w, "two pictures", "null")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"read.png\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	}
	out, errs, code := p.exec(t, "--approve", "all", "compare @named.png with read.png")
	if code != 0 || !strings.Contains(out, "two pictures") || len(p.requests) != 2 {
		t.Errorf("exit %d after %d requests:\n%s%s", code, len(p.requests), out, errs)
	}
}
