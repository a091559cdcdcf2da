package modeltest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

var question = model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}}

// png is the smallest file that passes for a picture.
var png = model.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00<&>")}

// TestConnections: a missing answer has the same error text in every protocol.
func TestConnections(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	signed := httptest.NewUnstartedServer(http.NotFoundHandler())
	signed.Config.ErrorLog = log.New(io.Discard, "", 0)
	signed.StartTLS()
	defer signed.Close()
	rude := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer rude.Close()
	nobody := listenAndClose(t)
	for _, tt := range []struct {
		name, url string
		kind      model.ErrorKind
		retry     bool
		want      string
	}{
		{"connection refused", "http://" + nobody, model.ConnectError, true, "connection refused; nothing listens at " + nobody + ": start the server or check api_base_url"},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), model.SetupError, false, "the server does not speak TLS; check api_base_url: it may have to begin with http://"},
		{"unknown certificate", signed.URL, model.SetupError, false, "the certificate is not trusted: x509: "},
		{"hang up", rude.URL, model.ConnectError, true, "the server closed the connection without an answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
				r := modeltest.Collect(t.Context(), p.Connect(t, tt.url+"/v1"), question)
				var e *model.Error
				if !errors.As(r.Err, &e) || e.Kind != tt.kind || e.Retryable() != tt.retry || !strings.HasPrefix(r.Err.Error(), host(tt.url)+": "+tt.want) {
					t.Errorf("error = %v, want %s", r.Err, tt.want)
				}
			})
		})
	}
}

// host returns the name of a server in an error.
func host(url string) string {
	host, _, _ := strings.Cut(url[strings.Index(url, "://")+len("://"):], "/")
	return host
}

func listenAndClose(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// TestEndlessAnswer: an answer that never ends is aborted.
func TestEndlessAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
		endless := million(p.Name, strings.Repeat("x", 1<<20))
		m := p.New(t, modeltest.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: endless}})
		size := 0
		var last error
		for d, err := range m.Stream(t.Context(), question) {
			size += len(d.Text)
			last = err
		}
		var e *model.Error
		if !errors.As(last, &e) || e.Kind != model.FormatError || size != 64<<20 || !strings.Contains(last.Error(), "the answer is longer than 64 MiB") {
			t.Errorf("%v after %d bytes", last, size)
		}
	})
}

// TestSameIDs: a server gives two calls the same id.
func TestSameIDs(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
		srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{
			modeltest.Call{ID: "c", Name: "a", Arguments: "{}"}, modeltest.Call{ID: "c", Name: "b", Arguments: "{}"},
		}))
		r := modeltest.Collect(t.Context(), p.Connect(t, srv.URL), question)
		if r.Err != nil || len(r.Ready) != 2 || r.Ready[0].ID != "c" || r.Ready[1].ID == "c" || r.Ready[1].ID == "" {
			t.Errorf("%+v", r)
		}
	})
}

// conversation plays a typical session: images, reasoning, calls, a prompt while a call is pending, a retried turn. It
// returns the body of each request.
func conversation(t *testing.T, p modeltest.Protocol) (bodies [][]byte) {
	t.Helper()
	srv := modeltest.Start(t, modeltest.Steps(
		modeltest.Answer{modeltest.Reasoning{Text: "First <look>."}, modeltest.Text("I look."), modeltest.Call{ID: "c1", Name: "look", Arguments: `{"at": "it"}`}, modeltest.Call{ID: "c2", Name: "look", Arguments: "{}"}},
		modeltest.Answer{modeltest.Reasoning{Text: "Again."}, modeltest.Call{ID: "c3", Name: "look", Arguments: "{}"}},
		modeltest.Answer{modeltest.Text("It is a cat.")},
		modeltest.Answer{modeltest.Compaction("They spoke of a cat."), modeltest.Text("Yes.")},
		modeltest.Answer{modeltest.Text("You are welcome.")},
	))
	m := p.Connect(t, srv.URL)
	req := model.Request{
		Messages: []model.Message{{Role: model.System, Content: "You see."}, {Role: model.User, Content: "what is this?", Images: []model.Image{png, png}}},
		Tools:    []model.ToolDef{{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`)}},
	}
	prompts := []string{"sure?", "thanks"}
	for turn := range 5 {
		r := modeltest.Collect(t.Context(), m, req)
		if r.Err != nil {
			t.Fatalf("turn %d: %v", turn, r.Err)
		}
		req.Messages = append(req.Messages, *r.Done.Message)
		for _, c := range r.Done.Message.ToolCalls {
			req.Messages = append(req.Messages, model.Message{Role: model.Tool, ToolCallID: c.ID, Name: c.Name, Content: "a cat"})
		}
		if len(r.Done.Message.ToolCalls) == 0 && len(prompts) > 0 {
			req.Messages = append(req.Messages, model.Message{Role: model.User, Content: prompts[0], Images: []model.Image{png}})
			prompts = prompts[1:]
		}
		req.Messages = journaled(t, req.Messages)
	}
	for _, r := range srv.Requests() {
		bodies = append(bodies, r.Body)
	}
	return bodies
}

// journaled returns messages after a round trip through a session file.
func journaled(t *testing.T, msgs []model.Message) (back []model.Message) {
	t.Helper()
	line, err := json.Marshal(msgs)
	if err == nil {
		err = json.Unmarshal(line, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestStablePrefix: the message list of a request starts with the bytes of the previous one, up to its closing
// brackets, and the other members are equal. In Messages the cache marks are removed first: they move, at most four at
// a time, and the provider does not compare them.
func TestStablePrefix(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
		var before, around string
		for i, body := range conversation(t, p) {
			if n := bytes.Count(body, []byte(mark)); n > 4 || (p.Name == "anthropic") != (n > 0) {
				t.Errorf("request %d has %d marks", i, n)
			}
			body = bytes.ReplaceAll(body, []byte(mark), nil)
			var top map[string]json.RawMessage
			if err := json.Unmarshal(body, &top); err != nil {
				t.Fatal(err)
			}
			list := top["messages"]
			if p.Name == "responses" {
				list = top["input"]
			}
			rest := string(bytes.Replace(body, list, nil, 1))
			closing := "]"
			if p.Name == "anthropic" {
				closing = "]}]" // the next user text may join the last turn
			}
			now := strings.TrimSuffix(string(list), closing)
			if !strings.HasPrefix(now, before) || len(now) <= len(before) {
				t.Errorf("request %d:\n%s\ndoes not begin with\n%s", i, now, before)
			}
			if i > 0 && rest != around {
				t.Errorf("request %d: besides messages it was\n%s\nand is\n%s", i, around, rest)
			}
			before, around = now, rest
		}
	})
}

// TestEphemeral: ephemeral messages are last, after the same bytes as without them, cache marks included; also after
// results of tools.
func TestEphemeral(t *testing.T) {
	prompt := []model.Message{{Role: model.System, Content: "You see."}, {Role: model.User, Content: "look"}}
	called := append(slices.Clip(prompt),
		model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "c1", Name: "look", Arguments: "{}"}}},
		model.Message{Role: model.Tool, ToolCallID: "c1", Name: "look", Content: "a cat"})
	for name, msgs := range map[string][]model.Message{"prompt": prompt, "results": called} {
		modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
			srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("ok")}, modeltest.Answer{modeltest.Text("ok")}))
			m := p.Connect(t, srv.URL)
			for _, now := range [][]model.Message{nil, {{Role: model.User, Kind: model.Reminder, Content: "<now> a screen"}}} {
				req := model.Request{Messages: append(slices.Clip(msgs), now...), Ephemeral: len(now)}
				if r := modeltest.Collect(t.Context(), m, req); r.Err != nil {
					t.Fatalf("%s: %v", name, r.Err)
				}
			}
			list := func(i int) string {
				var top map[string]json.RawMessage
				if err := json.Unmarshal(srv.Requests()[i].Body, &top); err != nil {
					t.Fatal(err)
				}
				if p.Name == "responses" {
					return string(top["input"])
				}
				return string(top["messages"])
			}
			without, with := list(0), list(1)
			if p.Name == "anthropic" {
				without = strings.TrimSuffix(without, "]}]")
			} else { // it is appended to the last text
				text := msgs[len(msgs)-1].Content
				without = without[:strings.LastIndex(without, text)+len(text)]
			}
			if !strings.HasPrefix(with, without) || !strings.Contains(with[len(without):], "a screen") || strings.Contains(with[len(without):], "cache_control") {
				t.Errorf("%s: with it\n%s\nwithout\n%s", name, with, without)
			}
		})
	}
}

// TestImages: images arrive unchanged in every protocol.
func TestImages(t *testing.T) {
	for _, prompt := range []model.Message{
		{Role: model.User, Content: "what is this?", Images: []model.Image{png}},
		{Role: model.User, Images: []model.Image{png, {MediaType: "image/gif", Data: []byte("GIF89a")}}},
	} {
		modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
			srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("a cat")}))
			r := modeltest.Collect(t.Context(), p.Connect(t, srv.URL), model.Request{Messages: []model.Message{prompt}})
			got := srv.Requests()[0]
			if r.Err != nil || got.Refused != nil || !cmp.Equal(got.Messages, []model.Message{prompt}) {
				t.Errorf("%v: %s", r.Err, cmp.Diff(got.Messages, []model.Message{prompt}))
			}
		})
	}
}

// TestImagesRefused: an image that no provider accepts is an error before anything is sent.
func TestImagesRefused(t *testing.T) {
	big := model.Image{MediaType: "image/png", Data: append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, model.MaxImage)...)}
	for _, tt := range []struct {
		name string
		m    model.Message
		want string
	}{
		{"too big", model.Message{Role: model.User, Images: []model.Image{png, big}}, "not sent: message 1, image 2: the image has 3.9 MB (allowed: 3.9 MB)"},
		{"empty", model.Message{Role: model.User, Images: []model.Image{{MediaType: "image/png"}}}, "the image is empty"},
		{"of another kind", model.Message{Role: model.User, Images: []model.Image{{MediaType: "image/jpeg", Data: png.Data}}}, `the image is "image/png", not "image/jpeg"`},
		{"no image", model.Message{Role: model.User, Images: []model.Image{{MediaType: "image/svg+xml", Data: []byte("<svg>")}}}, "not an image that models take (allowed: png, jpeg, gif, webp)"},
		{"from a tool", model.Message{Role: model.Tool, ToolCallID: "c", Images: []model.Image{png}}, `a message of "tool" cannot have images`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
				srv := modeltest.Start(t, modeltest.Steps())
				r := modeltest.Collect(t.Context(), p.Connect(t, srv.URL), model.Request{Messages: []model.Message{tt.m}})
				var e *model.Error
				if !errors.As(r.Err, &e) || e.Kind != model.SetupError || e.Retryable() || !strings.HasPrefix(r.Err.Error(), host(srv.URL)) || !strings.Contains(r.Err.Error(), tt.want) || len(srv.Requests()) != 0 {
					t.Errorf("error = %v, %d requests", r.Err, len(srv.Requests()))
				}
			})
		})
	}
}

// TestUsage checks the counted tokens, with cache reads and writes.
func TestUsage(t *testing.T) {
	want := model.Usage{Prompt: 100, Completion: 7, Cached: 60, CacheWrite: 30}
	for _, way := range []modeltest.Part{modeltest.Pause(0), modeltest.Plain{}} {
		modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
			srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{way, modeltest.Text("ok"), modeltest.Usage{Prompt: 100, Completion: 7, Cached: 60, CacheWrite: 30}}))
			r := modeltest.Collect(t.Context(), p.Connect(t, srv.URL), question)
			if r.Err != nil || r.Done.Usage == nil || *r.Done.Usage != want {
				t.Errorf("%v, %+v", r.Err, r.Done)
			}
		})
	}
}

// TestSummaryOfTheProvider: a summary made by the provider is kept through the journal and sent back in its place,
// streamed or not. If nothing else came, the answer ends with "compaction".
func TestSummaryOfTheProvider(t *testing.T) {
	for _, way := range []modeltest.Part{modeltest.Pause(0), modeltest.Plain{}} {
		for _, pauses := range []bool{false, true} {
			modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
				if p.Name == "completions" || p.Name == "responses" && pauses {
					t.Skip("the protocol has no such thing")
				}
				answer := modeltest.Answer{modeltest.Compaction("They spoke of a cat."), modeltest.Text("Yes.")}
				finish := model.FinishStop
				if pauses {
					answer, finish = answer[:1], model.FinishCompaction
				}
				if _, ok := way.(modeltest.Plain); ok {
					answer = append(modeltest.Answer{way}, answer...)
				}
				srv := modeltest.Start(t, modeltest.Steps(answer, modeltest.Answer{modeltest.Text("ok")}))
				m := p.Connect(t, srv.URL)
				r := modeltest.Collect(t.Context(), m, question)
				if r.Err != nil || r.Done.Finish != finish || !r.Done.Message.Compacted() {
					t.Fatalf("%v, %+v", r.Err, r.Done)
				}
				next := journaled(t, []model.Message{question.Messages[0], *r.Done.Message, {Role: model.User, Content: "and now?"}})
				if r := modeltest.Collect(t.Context(), m, model.Request{Messages: next}); r.Err != nil {
					t.Fatal(r.Err)
				}
				body := string(srv.Requests()[1].Body)
				at := strings.Index(body, `"type":"compaction"`)
				if at < strings.Index(body, "hello") || at > strings.Index(body, "and now?") || !strings.Contains(body, `"encrypted_content":"sealed`) ||
					p.Name == "anthropic" && !strings.Contains(body, `"content":"They spoke of a cat."`) {
					t.Errorf("sent back as %s", body)
				}
			})
		}
	}
}

// TestOpaqueAnswerElsewhere: after a switch of the model, an answer that only the first provider understands is not
// sent.
func TestOpaqueAnswerElsewhere(t *testing.T) {
	opaque := model.Message{Role: model.Assistant, Extra: map[string]json.RawMessage{"buddy:elsewhere": json.RawMessage(`{"a":1}`)}}
	opaque.MarkCompacted()
	modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
		srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Text("ok")}))
		msgs := []model.Message{question.Messages[0], opaque, question.Messages[0]}
		if r := modeltest.Collect(t.Context(), p.Connect(t, srv.URL), model.Request{Messages: msgs}); r.Err != nil || strings.Contains(string(srv.Requests()[0].Body), "buddy:") {
			t.Errorf("%v, sent %s", r.Err, srv.Requests()[0].Body)
		}
	})
}

// million is an answer of a million deltas in each protocol, in the provider's own form.
func million(protocol, text string) modeltest.Repeat {
	const n = 1_000_000
	r := modeltest.Repeat{N: n}
	data := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	switch protocol {
	case "completions":
		r.Event = data(`{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"test-1","choices":[{"index":0,"delta":{"content":"` + text + `"},"logprobs":null,"finish_reason":null}]}`)
		r.Tail = data(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	case "responses":
		r.Head = data(`{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_0123456789abcdef","type":"message","content":[]}}`)
		r.Event = "event: response.output_text.delta\n" + data(`{"type":"response.output_text.delta","content_index":0,"delta":"`+text+`","item_id":"msg_0123456789abcdef","logprobs":[],"obfuscation":"abc","output_index":0,"sequence_number":7}`)
		r.Tail = data(`{"type":"response.completed","response":{"status":"completed","output":[]}}`)
	case "anthropic":
		r.Head = data(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		r.Event = "event: content_block_delta\n" + data(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+text+`"}}`)
		r.Tail = data(`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
	}
	return r
}

// BenchmarkMillion reads an answer of a million deltas, 4 MB of text in up to 240 MB of events. The target is at least
// 1,000,000 deltas a second.
func BenchmarkMillion(b *testing.B) {
	for _, p := range modeltest.Protocols {
		b.Run(p.Name, func(b *testing.B) {
			m := p.New(b, modeltest.Config{BaseURL: "http://x", HTTPClient: &http.Client{Transport: million(p.Name, "four")}})
			b.ReportAllocs()
			for b.Loop() {
				size := 0 // pieces that wait together arrive as one
				for d, err := range m.Stream(b.Context(), question) {
					if err != nil {
						b.Fatal(err)
					}
					if d.Kind == model.Text {
						size += len(d.Text)
					}
				}
				if size != 4_000_000 {
					b.Fatal(size)
				}
			}
			b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "deltas/s")
		})
	}
}
