package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// SchemaFile is the file name of [Schema] in docs.
const SchemaFile = "workflow.schema.json"

// object is a node of a JSON Schema.
type object map[string]any

// Schema returns a JSON Schema of workflow files, for editors. It uses the names and limits of the parser and is
// part of the tests, because the program does not need it. A valid file may still have mistakes, which buddy
// workflow check reports.
func Schema() []byte {
	value := object{"type": []string{"string", "number", "boolean"}}
	schema := mapping(topKeys, object{
		"name":        object{"type": "string", "pattern": validName().String(), "maxLength": 64, "description": "the name of the file, without .yaml"},
		"description": object{"type": "string", "minLength": 1, "description": "what the workflow does, on one line"},
		"phrases": object{
			"type": "array", "maxItems": maxPhrases, "items": object{"type": "string", "maxLength": maxPhrase},
			"description": "words of prompts that the workflow fits, such as update|bump dependency|package",
		},
		"version": object{"type": "integer", "minimum": 1},
		"inputs":  object{"type": "object", "maxProperties": maxInputs, "propertyNames": object{"pattern": validID().String()}, "additionalProperties": inputSchema()},
		"steps":   object{"type": "array", "minItems": 1, "maxItems": MaxSteps, "items": stepSchema()},
		"outputs": object{"type": "object", "maxProperties": maxOutputs, "propertyNames": object{"pattern": validID().String()}, "additionalProperties": value},
	}, "name", "description", "steps")
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "A workflow of buddy"
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "\t")
	if err := out.Encode(schema); err != nil {
		panic(fmt.Sprintf("workflow: schema: %v", err)) // never: plain values
	}
	return b.Bytes()
}

// mapping returns the schema of an object with these keys. It panics if a key has no schema.
func mapping(keys []string, properties object, required ...string) object {
	if len(keys) != len(properties) {
		panic(fmt.Sprintf("workflow: the schema has %d keys, the reader %v", len(properties), keys))
	}
	for _, key := range keys {
		if properties[key] == nil {
			panic("workflow: the schema lacks " + key)
		}
	}
	o := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func inputSchema() object {
	return mapping(inputKeys, object{
		"type":        object{"enum": types},
		"optional":    object{"type": "boolean"},
		"default":     object{"type": []string{"string", "integer", "boolean", "array"}},
		"pattern":     object{"type": "string", "description": "an RE2 pattern that the whole value must match"},
		"description": object{"type": "string"},
	}, "type")
}

func stepSchema() object {
	condition := object{"type": "string", "maxLength": maxCondition, "description": "== != < > contains, and or not, exists(\"path\")"}
	duration := object{"type": "string", "description": "such as 30s, 15m or 2h"}
	return mapping(stepKeys, object{
		"id":         object{"type": "string", "pattern": validID().String()},
		"tool":       object{"type": "string", "description": "a tool of docs/tools.md, or " + Runner},
		"params":     object{"type": "object"},
		"why":        object{"type": "string"},
		"target":     object{"type": "string"},
		"each":       object{"type": []string{"string", "array"}, "description": "a list, or one value such as {{ inputs.targets }}"},
		"at_once":    object{"type": "integer", "minimum": 1, "maximum": maxAtOnce},
		"stop_after": object{"type": "integer", "minimum": 1, "maximum": maxItems},
		"needs":      object{"type": "array", "items": object{"type": "string"}, "description": "default: the step before"},
		"condition":  condition,
		"timeout":    duration,
		"on_error": object{"oneOf": []object{
			{"enum": []string{"fail", "skip"}},
			mapping(errorKeys, object{"retry": object{"type": "integer", "minimum": 1, "maximum": maxRetry}, "wait": duration}, "retry"),
		}},
		"gate": mapping(gateKeys, object{
			"type":    object{"enum": gateTypes},
			"when":    condition,
			"message": object{"type": "string"},
			"timeout": duration,
			"default": object{"enum": []string{"deny", "approve"}},
		}, "type", "message"),
	}, "id", "tool")
}
