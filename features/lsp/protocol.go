package lsp

import "encoding/json"

// The part of the protocol that is used, with the protocol's names.

type severity int

// The severities. Anything below a warning is not reported.
const (
	severityError   severity = 1
	severityWarning severity = 2
)

type position struct {
	Line      int `json:"line"`      // from 0
	Character int `json:"character"` // from 0, in UTF-16 units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type diagnostic struct {
	Range    span            `json:"range"`
	Severity severity        `json:"severity"`
	Code     json.RawMessage `json:"code"`
	Message  string          `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// pullReport is the answer to a pull.
type pullReport struct {
	Kind    string                `json:"kind"`
	Items   []diagnostic          `json:"items"`
	Related map[string]pullReport `json:"relatedDocuments"`
}

type docID struct {
	URI string `json:"uri"`
}

type docVersion struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
}

type docItem struct {
	URI      string `json:"uri"`
	Language string `json:"languageId"`
	Version  int    `json:"version"`
	Text     string `json:"text"`
}

type openParams struct {
	Document docItem `json:"textDocument"`
}

type wholeText struct {
	Text string `json:"text"`
}

type changeParams struct {
	Document docVersion  `json:"textDocument"`
	Changes  []wholeText `json:"contentChanges"`
}

type saveParams struct {
	Document docID `json:"textDocument"`
}

type closeParams struct {
	Document docID `json:"textDocument"`
}

type pullParams struct {
	Document docID `json:"textDocument"`
}

// fileEvent is a change of a file on disk: 1 created, 2 changed, 3 deleted.
type fileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

type watchedParams struct {
	Changes []fileEvent `json:"changes"`
}

type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type initializeParams struct {
	Process      int             `json:"processId"`
	Client       map[string]any  `json:"clientInfo"`
	Root         string          `json:"rootUri"`
	Folders      []folder        `json:"workspaceFolders"`
	Capabilities map[string]any  `json:"capabilities"`
	Options      json.RawMessage `json:"initializationOptions,omitempty"`
}

type initializeResult struct {
	Capabilities struct {
		Pull json.RawMessage `json:"diagnosticProvider"`
	} `json:"capabilities"`
}

// symbolParams are the parameters of requests about a file, a symbol in it, or the whole project.
type symbolParams struct {
	Document *docID            `json:"textDocument,omitempty"`
	Position *position         `json:"position,omitempty"`
	Context  *referenceContext `json:"context,omitempty"`
	NewName  string            `json:"newName,omitempty"`
	Query    *string           `json:"query,omitempty"`
}

type referenceContext struct {
	Declaration bool `json:"includeDeclaration"`
}

// location is a Location, a LocationLink, a SymbolInformation, a WorkspaceSymbol or a DocumentSymbol.
type location struct {
	URI         string     `json:"uri"`
	Range       *span      `json:"range"`
	TargetURI   string     `json:"targetUri"`
	TargetRange *span      `json:"targetSelectionRange"`
	Location    *location  `json:"location"`
	Selection   *span      `json:"selectionRange"`
	Children    []location `json:"children"`
}

// workspaceEdit is the answer to a rename.
type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes"`
	DocumentChanges []documentChange      `json:"documentChanges"`
}

// documentChange changes a text, or a file if it has a kind.
type documentChange struct {
	Kind     string `json:"kind"`
	Document struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

type textEdit struct {
	Range   *span   `json:"range"`
	NewText *string `json:"newText"`
}

// capabilities describes this client, which applies no edits by itself.
func capabilities() map[string]any {
	yes := map[string]any{}
	return map[string]any{
		"general": map[string]any{"positionEncodings": []string{"utf-16"}},
		"window":  map[string]any{"workDoneProgress": true},
		"workspace": map[string]any{
			"configuration": true, "workspaceFolders": true,
			"didChangeConfiguration": yes,
			"didChangeWatchedFiles":  map[string]any{"dynamicRegistration": true},
			"diagnostics":            map[string]any{"refreshSupport": true},
			"workspaceEdit":          map[string]any{"documentChanges": true},
		},
		"textDocument": map[string]any{
			"synchronization":    map[string]any{"didSave": true},
			"publishDiagnostics": map[string]any{"versionSupport": true},
			"diagnostic":         map[string]any{"dynamicRegistration": true, "relatedDocumentSupport": true},
			"definition":         map[string]any{"linkSupport": true},
			"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
			"hover":              map[string]any{"contentFormat": []string{"plaintext", "markdown"}},
		},
	}
}
