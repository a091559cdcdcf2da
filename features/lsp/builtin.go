package lsp

import "encoding/json"

// BuiltIn returns the servers that need no settings. The first word of a command is a program's name, not its path.
// Servers of one language are ordered, best first.
func BuiltIn() []Server {
	python := map[string]string{".py": "python", ".pyi": "python"}
	pythonRoots := []string{"pyproject.toml", "pyrightconfig.json", "setup.py", "setup.cfg", "requirements.txt"}
	pythonPass := []string{"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"}
	script := map[string]string{
		".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
		".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
	}
	scriptRoots := []string{"tsconfig.json", "jsconfig.json", "package.json"}
	return []Server{
		{
			Name: "gopls", Command: []string{"gopls"}, Languages: map[string]string{".go": "go"}, Roots: []string{"go.work", "go.mod"},
			// Without this, files other than the changed one are checked a second later.
			Settings: json.RawMessage(`{"gopls": {"diagnosticsDelay": "0s"}}`), Init: json.RawMessage(`{"diagnosticsDelay": "0s"}`),
			Pass: []string{"GOPATH", "GOROOT", "GOMODCACHE", "GOCACHE", "GOFLAGS", "GOPROXY", "GOPRIVATE", "GONOSUMDB", "GOTOOLCHAIN", "GOWORK", "GOOS", "GOARCH", "CGO_ENABLED"},
		},
		{Name: "basedpyright", Command: []string{"basedpyright-langserver", "--stdio"}, Languages: python, Roots: pythonRoots, Pass: pythonPass},
		{Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Languages: python, Roots: pythonRoots, Pass: pythonPass},
		{Name: "typescript", Command: []string{"tsc", "--lsp", "--stdio"}, Languages: script, Roots: scriptRoots},
		{
			Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"}, Languages: script, Roots: scriptRoots,
			Init: json.RawMessage(`{"disableAutomaticTypingAcquisition": true}`), // which would download packages
		},
		{
			Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Languages: map[string]string{".rs": "rust"}, Roots: []string{"Cargo.toml"}, RunsProject: true, Pass: []string{"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"},
		},
		{
			Name: "clangd", Command: []string{"clangd"}, Roots: []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
			Languages: map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp"},
		},
		{Name: "bash-language-server", Command: []string{"bash-language-server", "start"}, Languages: map[string]string{".sh": "shellscript", ".bash": "shellscript"}},
		{Name: "yaml-language-server", Command: []string{"yaml-language-server", "--stdio"}, Languages: map[string]string{".yaml": "yaml", ".yml": "yaml"}},
	}
}
