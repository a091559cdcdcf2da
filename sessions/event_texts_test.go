package sessions

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"buddy/agent/event"
)

// unchanged lists the JSON keys of texts that an export does not redact, as "type:path" where other events have texts
// under the same key.
var unchanged = slices.Concat(
	// Ids: other events refer to them, and a provider needs those of calls.
	strings.Fields("id call_id call_ids[] calls[] turn_id tool_call_id pane pane.opened:session task.started:call"),
	// Hashes: equal ones tell that a file or a list has not changed.
	strings.Fields("commit definition digest sum file_sum line_sum file.kept:files[].after file.restoring:kept[].after file.restored:kept[].after"),
	// Names: the settings, the tools and the servers know them, and other events repeat them.
	strings.Fields("name tool model profile api effort target server servers[]"),
	// Paths: undo and the check for changed files need them.
	strings.Fields("cwd dir copy file.kept:files[].path file.restoring:kept[].path file.restored:kept[].path "+
		"tool.result:seen[].path reminder.attached:seen[].path tool.result:full_output.path"),
	// Enumerations, of buddy, of providers or of protocols.
	strings.Fields("kind risk decision state health severity shape cache mode role by code date event kinds[] method origin "+
		"scope scopes[] version media_type finish_reason stop_reason question.asked:before plan.entered:before "+
		"metrics.usage:for decision.explained:from policy.rule_added:rule.source policy.rule_removed:rule.source task.finished:outcome exchange.finished:outcome"),
	// A provider needs the unknown fields of a call back as they were.
	[]string{"model.message:message.tool_calls[].key", "model.prefix:message.tool_calls[].key"},
)

// Every other text of an event is redacted in an export, so that no event or field can be forgotten.
func TestExportHidesEveryText(t *testing.T) {
	used := make(map[string]bool)
	for _, zero := range event.All {
		if !event.Durable(zero) {
			continue
		}
		v := reflect.New(reflect.TypeOf(zero)).Elem()
		fill(t, v)
		in := v.Interface().(event.Event)
		before := encoded(t, in)
		out := exportable(in, hide)
		if after := encoded(t, in); after != before {
			t.Errorf("%s: the event itself was changed", event.Type(zero))
		}
		if out == nil {
			continue
		}
		var tree any
		if err := json.Unmarshal([]byte(encoded(t, out)), &tree); err != nil {
			t.Fatal(err)
		}
		for _, path := range withSecret(tree, event.Type(zero)+":") {
			key := path[strings.LastIndexAny(path, ":.")+1:]
			if used[path], used[key] = true, true; !slices.Contains(unchanged, path) && !slices.Contains(unchanged, key) {
				t.Errorf("%s keeps its secret", path)
			}
		}
	}
	for _, name := range unchanged {
		if !used[name] {
			t.Errorf("%s is an exception, but is redacted or does not exist", name)
		}
	}
}

// fill sets every text in v to one with a secret.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("a sk-secret")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		switch {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			v.SetBytes([]byte(`"a sk-secret"`))
		case v.Type().Elem().Kind() != reflect.Uint8: // not the bytes of an image
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(t, v.Index(0))
		}
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
	default:
		t.Fatalf("a %s may hold a text", v.Type())
	}
}

func encoded(t *testing.T, e event.Event) string {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("%s: %v", event.Type(e), err)
	}
	return string(b)
}

// withSecret returns the paths of the texts in a JSON value that hold the secret.
func withSecret(v any, path string) (all []string) {
	switch x := v.(type) {
	case string:
		if strings.Contains(x, "sk-secret") {
			return []string{path}
		}
	case []any:
		for _, e := range x {
			all = append(all, withSecret(e, path+"[]")...)
		}
	case map[string]any:
		for key, e := range x {
			all = append(all, withSecret(e, strings.Replace(path+"."+key, ":.", ":", 1))...)
		}
	}
	return all
}
