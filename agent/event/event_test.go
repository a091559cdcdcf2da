package event

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/action"
	"buddy/agent/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fill sets every exported field below v to a non-zero value.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d <é>\n", *n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"z":1,"a":["<&>",1e400]}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		elem := reflect.New(v.Type().Elem()).Elem()
		fill(t, elem, n)
		v.SetMapIndex(reflect.ValueOf("unknown_field"), elem)
	default:
		t.Fatalf("fill: no case for %v", v.Type())
	}
}

// filled returns a copy of ev without zero fields.
func filled(t *testing.T, ev Event) Event {
	t.Helper()
	v := reflect.New(reflect.TypeOf(ev)).Elem()
	n := 0
	fill(t, v, &n)
	return v.Interface().(Event)
}

// Every event survives JSON with all of its fields.
func TestRoundTrip(t *testing.T) {
	for i, zero := range All {
		for _, payload := range []Event{zero, filled(t, zero)} {
			want := Envelope{Seq: uint64(i) + 1, Time: 2, Session: "s", Branch: 3, Task: 4, Turn: 5, Payload: payload}
			data, err := json.Marshal(want)
			if err != nil {
				t.Errorf("%T: %v", payload, err)
				continue
			}
			var got Envelope
			if err := json.Unmarshal(data, &got); err != nil {
				t.Errorf("%T: %v", payload, err)
				continue
			}
			_, whole := payload.(ModelMessage)
			if _, start := payload.(ModelPrefix); start || whole { // json.Marshal escapes < in opaque fields
				got.Payload, want.Payload = reencode(t, got.Payload), reencode(t, want.Payload)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("round trip = %#v, want %#v", got, want)
			}
		}
	}
}

func reencode(t *testing.T, ev Event) Event {
	t.Helper()
	data, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(Type(ev), data)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Names have the form family.fact.
func TestNames(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$`)
	alone := map[string]bool{"notice": true, "warning": true, "error": true, "interrupted": true, "max_turns_reached": true}
	for name := range named {
		if !form.MatchString(name) && !alone[name] {
			t.Errorf("%q is not family.fact", name)
		}
	}
}

// Every field has a JSON name in snake case: they are a public interface.
func TestFieldNames(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*(,omitempty|,omitzero)?$`)
	var check func(reflect.Type)
	check = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ.Implements(reflect.TypeFor[json.Marshaler]()) {
			return
		}
		for f := range typ.Fields() {
			if f.Anonymous { // its fields are listed inline
				check(f.Type)
				continue
			}
			if tag := f.Tag.Get("json"); !form.MatchString(tag) {
				t.Errorf("%v.%s has the tag %q", typ, f.Name, tag)
			}
			check(f.Type)
		}
	}
	for _, e := range All {
		check(reflect.TypeOf(e))
	}
}

// TestAllIsWhole checks that All holds every event type once, each with a unique name: decoding depends on it.
func TestAllIsWhole(t *testing.T) {
	all := []string{"Unknown"}
	for _, e := range All {
		all = append(all, reflect.TypeOf(e).Name())
	}
	slices.Sort(all)
	if d := cmp.Diff(declared(t, "kind"), all); d != "" || len(named) != len(All) {
		t.Errorf("types with a kind (-) and in All (+), %d names:\n%s", len(named), d)
	}
}

// declared returns the types of this package with a method of that name, in order.
func declared(t *testing.T, method string) (types []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Name.Name == method && m.Recv != nil {
				types = append(types, m.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(types)
	return types
}

// The form on the wire is a public interface: exec --json prints it and journals store it.
func TestGolden(t *testing.T) {
	code := 2
	act := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "make test", Risk: action.Medium, Mutation: true}
	payloads := []Event{
		SessionCreated{Version: "0.1.0", Cwd: "/work", Target: "local", Profile: "main", Model: "m-1", API: "completions", Window: 128000},
		PromptSubmitted{ID: 1, Text: "run <the> tests & tell"},
		TaskStarted{ID: 1, Kind: MainTask, Title: "run the tests"},
		TurnStarted{TurnID: "t1", Number: 1},
		TextDelta{Text: "I will"},
		ModelMessage{Message: model.Message{
			Role:      model.Assistant,
			ToolCalls: []model.ToolCall{{ID: "c1", Name: "run_shell", Arguments: `{"command": "make test"}`}},
			Extra:     map[string]json.RawMessage{"reasoning_content": json.RawMessage(`"hm"`)},
		}, Reasoning: "hm"},
		ToolRequested{CallID: "c1", Name: "run_shell", Arguments: `{"command": "make test"}`, Action: act},
		ApprovalAsked{ID: "a1", CallID: "c1", Action: act, Verdict: action.Verdict{Decision: action.Ask, Reason: "make is not known", Rule: "default"}},
		ApprovalAnswered{ID: "a1", CallID: "c1", Decision: Once, By: "user"},
		ToolStarted{CallID: "c1", Name: "run_shell", Pane: "%3", Dir: "/home/ann/shop/.buddyx/sessions/s/out/c1"},
		ToolOutput{CallID: "c1", Stream: "stdout", Text: "FAIL\n", BytesTotal: 5},
		ToolResult{CallID: "c1", Name: "run_shell", Result: "FAIL", IsError: true, ExitCode: &code, DurationMS: 1200, Tail: "FAIL\n", FullOutput: &action.FullOutput{Path: "/out", Bytes: 5}},
		TurnFinished{TurnID: "t1", Number: 1, StopReason: "tool_calls", Usage: &model.Usage{Prompt: 10, Completion: 2, Cached: 8}},
		TaskFinished{ID: 1, Outcome: Failed, Error: "no connection"},
		PaneScreen{Pane: "%3", W: 80, H: 24, Cursor: Cursor{X: 1, Y: 2, Visible: true}, Rows: []string{"$ \x1b[1mls\x1b[m"}},
		MetricsUsage{Prompt: 10, Completion: 2, SessionPrompt: 10, SessionCompletion: 2},
		Error{Text: "no connection", Code: "model", Task: 1, NextStep: "check the network"},
	}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	for i, p := range payloads {
		if err := enc.Encode(Envelope{Seq: uint64(i) + 1, Time: 1_700_000_000_000, Session: "3f9a-0c1d-88e2-b7aa", Task: i % 2, Payload: p}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join("testdata", "envelopes.jsonl")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
	}
}

// An event of a later version survives byte for byte.
func TestUnknown(t *testing.T) {
	for _, payload := range []string{`null`, `1e999`, `"<&> \u003c \u2028"`, `{"z":1,"a":{"b":[]},"a":2}`, `[]`} {
		line := `{"seq":7,"ts_unix_ms":1,"session":"s","branch":2,"type":"future.fact","payload":` + payload + `}`
		var env Envelope
		if err := json.Unmarshal([]byte(line), &env); err != nil {
			t.Fatal(err)
		}
		if u, ok := env.Payload.(Unknown); !ok || Type(u) != "future.fact" || !Durable(u) || string(u.Raw) != payload {
			t.Errorf("payload = %#v", env.Payload)
		}
		if got, err := env.MarshalJSON(); err != nil || string(got) != line {
			t.Errorf("encodes as %s (%v), want %s", got, err, line)
		}
	}
	if got, err := (Envelope{Seq: 1, Payload: Unknown{Name: "x.y"}}).MarshalJSON(); err != nil || !strings.HasSuffix(string(got), `"type":"x.y","payload":null}`) {
		t.Errorf("without a payload: %s, %v", got, err)
	}
}

// The name alone identifies the event on a line.
func TestNamed(t *testing.T) {
	for name, want := range map[string]Event{"notice": Notice{}, "model.open_text": OpenText{}, "future.fact": Unknown{Name: "future.fact"}, "": nil} {
		if got := Named(name); !reflect.DeepEqual(got, want) {
			t.Errorf("Named(%q) = %#v, want %#v", name, got, want)
		}
	}
}

func TestBadEnvelopes(t *testing.T) {
	if _, err := json.Marshal(Envelope{Seq: 7}); err == nil || !strings.Contains(err.Error(), "event 7 has no payload") {
		t.Errorf("no payload: %v", err)
	}
	bad := Envelope{Seq: 8, Payload: Unknown{Name: "x.y", Raw: json.RawMessage("{")}}
	if _, err := json.Marshal(bad); err == nil || !strings.Contains(err.Error(), "event 8 x.y") {
		t.Errorf("payload that is not JSON: %v", err)
	}
	for line, want := range map[string]string{
		`[]`:                                     "event: ",
		`{"seq":-1,"type":"notice"}`:             "event: ",
		`{"seq":3,"payload":{}}`:                 "event 3 : no type",
		`{"seq":3,"type":"notice"}`:              "event 3 notice",
		`{"seq":3,"type":"notice","payload":[]}`: "event 3 notice",
	} {
		var env Envelope
		if err := json.Unmarshal([]byte(line), &env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// Every line from MarshalJSON is decoded in one pass, with the same result as json.Unmarshal. So are lines that
// differ in one byte or end early, which are decoded or refused.
func TestDecodeIsUnmarshal(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "envelopes.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	same := func(line []byte) {
		var want Envelope
		err := json.Unmarshal(line, &want)
		kept := bytes.Clone(line)
		got, also := Decode(line)
		for i := range line {
			line[i] = 'x' // the envelope must not reference it
		}
		if (err == nil) != (also == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nDecode gives %+v, %v\njson.Unmarshal %+v, %v", kept, got, also, want, err)
		}
	}
	for line := range bytes.Lines(data) {
		var env Envelope
		if err := json.Unmarshal(line, &env); err != nil {
			t.Fatal(err)
		}
		written, err := env.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, own := decodeOwn(written); own != (named[Type(env.Payload)] != nil) {
			t.Errorf("read in one pass is %v: %s", own, written)
		}
		same(bytes.Clone(written))
		for i := range min(len(written), 300) {
			same(bytes.Clone(written[:i]))
			for _, b := range []byte{'0', '-', '"', '\\', ' ', '}', 0xff} {
				other := bytes.Clone(written)
				other[i] = b
				same(other)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	line, err := Envelope{Seq: 1, Time: 2, Session: "s", Task: 3, Turn: 4, Payload: ToolResult{CallID: "c", Name: "run_shell", Result: strings.Repeat("a line of an output\n", 1000)}}.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	for name, read := range map[string]func() error{
		"Unmarshal": func() error { var env Envelope; return json.Unmarshal(line, &env) },
		"Decode":    func() error { _, err := Decode(line); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A decoded envelope encodes to one that decodes to the same value.
func FuzzEnvelope(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "envelopes.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		f.Add(line)
	}
	f.Add([]byte(`{"seq":1,"type":"x","payload":{"a":"<"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second Envelope
		err := json.Unmarshal(data, &first)
		if env, also := Decode(data); (err == nil) != (also == nil) || err == nil && !reflect.DeepEqual(env, first) {
			t.Fatalf("Decode gives %+v, %v; json.Unmarshal %+v, %v", env, also, first, err)
		}
		if err != nil {
			return
		}
		one, err := first.MarshalJSON()
		if err != nil {
			t.Fatalf("decoded, but does not encode: %v", err)
		}
		if bytes.IndexByte(one, '\n') >= 0 {
			t.Fatalf("%q holds a newline", one)
		}
		if err := json.Unmarshal(one, &second); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		two, err := second.MarshalJSON()
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("encodes as\n%s, then as\n%s (%v)", one, two, err)
		}
	})
}

func BenchmarkMarshal(b *testing.B) {
	b.ReportAllocs()
	env := Envelope{Seq: 1, Time: 2, Session: "s", Payload: TextDelta{Text: "some words <of> an answer"}}
	for b.Loop() {
		if _, err := env.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNextSeq(t *testing.T) {
	for last, want := range map[uint64]uint64{0: 1_000_000, 1: 1_000_000, 999_999: 1_000_000, 1_000_000: 2_000_000, 1<<53 - 1: 9_007_199_255_000_000} {
		if got := NextSeq(last); got != want {
			t.Errorf("NextSeq(%d) = %d, want %d", last, got, want)
		}
	}
}
