# make run and make test are enough to use buddy. The other targets are for contributors;
# make quick is their inner loop.
.PHONY: run quick test check setup build install uninstall dist bench fuzz golden generate pictures mutate counterparts eval eval-small durable durable-dev telemetry

GO ?= go
FUZZTIME ?= 20s
PREFIX ?= /usr/local
DESTDIR ?=
SHARE = $(DESTDIR)$(PREFIX)/share
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -ldflags "-s -w$(if $(VERSION), -X buddy/app/version.Number=$(VERSION))"

run: build ## build and start buddy
	@./buddy

build:
	@.ci/setup
	@$(BUILD) -o buddy .

install: ## build and install into PREFIX (below DESTDIR): program, man pages, completions
	@$(BUILD) -o buddy .
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 0)} $(GO) run ./app/man build
	@install -d "$(DESTDIR)$(PREFIX)/bin" "$(SHARE)/man/man1" "$(SHARE)/bash-completion/completions" \
		"$(SHARE)/zsh/site-functions" "$(SHARE)/fish/vendor_completions.d"
	install -m 755 buddy "$(DESTDIR)$(PREFIX)/bin/buddy"
	@install -m 644 build/man/*.1 "$(SHARE)/man/man1"
	@install -m 644 build/completions/buddy.bash "$(SHARE)/bash-completion/completions/buddy"
	@install -m 644 build/completions/_buddy "$(SHARE)/zsh/site-functions/_buddy"
	@install -m 644 build/completions/buddy.fish "$(SHARE)/fish/vendor_completions.d/buddy.fish"

uninstall: ## remove the files that install put there
	rm -f "$(DESTDIR)$(PREFIX)/bin/buddy" "$(SHARE)"/man/man1/buddy.1 "$(SHARE)"/man/man1/buddy-*.1 \
		"$(SHARE)/bash-completion/completions/buddy" "$(SHARE)/zsh/site-functions/_buddy" "$(SHARE)/fish/vendor_completions.d/buddy.fish"

dist: ## static programs for four platforms, built twice and compared
	@.ci/dist

quick: ## build, vet and the tests that need no container, sshd or killed program
	@$(GO) build ./... && $(GO) vet ./... ./.ci/bench ./.ci/budget ./.ci/mutate ./.ci/rules && $(GO) test -p 4 -vet=off -short ./... ./.ci/bench ./.ci/mutate ./.ci/rules

test: setup ## run every test, with the race detector for packages with goroutines
	@$(GO) run ./.ci/budget test -- .ci/test

check: setup ## formatting, lint, tidy modules, within the limit of CPU seconds
	@$(GO) run ./.ci/budget check -- .ci/check

setup: ## install what is missing (tmux; sshd, podman, shells for tests)
	@.ci/setup dev

bench: ## start-up cost of packages; benchmarks, and those that allocate more than at the last release (SAVE=1: save the figures)
	@$(GO) build -o /tmp/buddy-bench-$$$$ . && { GODEBUG=inittrace=1 /tmp/buddy-bench-$$$$ --version 2>&1 | sort -t@ -k2 -n | awk '/^init/ && $$5 > 0.2 {print}'; rm -f /tmp/buddy-bench-$$$$; }
	@$(GO) run ./.ci/bench $(if $(SAVE),-save)

fuzz: ## run every fuzz test for FUZZTIME
	@grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r f; do \
		grep -oE '^func Fuzz[A-Za-z0-9_]*' "$$f" | sed 's/func //' | while read -r target; do \
			echo "$$target in $$(dirname $$f)"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname $$f)" || exit 1; \
		done || exit 1; done

counterparts: setup ## tests that are too heavy for every run, against real programs (ONLY="docker crash": some)
	@.ci/counterparts $(ONLY)

eval: build ## run 20 small tasks with a real model, at its price: MODEL=name (ONLY="find-cause add-flag", RUNS=3, CONFIG=file)
	@$(GO) run ./agent/evals -buddy ./buddy -model '$(MODEL)' -base-url '$(BASE_URL)' -only '$(ONLY)' -runs '$(or $(RUNS),1)' -config '$(CONFIG)'

eval-small: build ## run 32 tasks with a small model on a server on this machine: MODEL=name BASE_URL=http://127.0.0.1:8080/v1 (ONLY="edit count", RUNS=5)
	@$(GO) run ./agent/evals -small -buddy ./buddy -model '$(MODEL)' -base-url '$(or $(BASE_URL),http://127.0.0.1:8080/v1)' -only '$(ONLY)' -runs '$(or $(RUNS),1)' -config '$(CONFIG)'

mutate: ## make small faults in PKG and list those that its tests don't notice
	$(GO) run ./.ci/mutate -most $(or $(MOST),100) $(if $(ONLY),-only '$(ONLY)') $(PKG)

golden: ## rewrite the golden files; read the diff before you commit it
	$(GO) test ./views ./views/dialog ./views/panes ./views/prompt ./views/transcript ./app/cli ./app/fullscreen ./app/headless ./app/layout ./app/ui ./sessions -update

generate: ## rewrite the generated documents
	$(GO) generate ./views/markup
	$(GO) test ./app/cli ./app/commands ./app/keymap ./config ./extensions/workflow ./agent/event ./agent/reminder ./tools/toolset -run "Doc|Reference" -update

durable: ## build buddy-worker and buddy-runs for durable runs (docs/durable.md)
	@CGO_ENABLED=0 $(GO) -C durable build -trimpath -ldflags "-s -w" -o '$(CURDIR)' ./buddy-worker ./buddy-runs

durable-dev: ## run a Temporal server on this machine, for trying durable runs; the first build takes about ten minutes
	@$(GO) -C durable/devserver build -o '$(CURDIR)/build/durable-devserver' . && ./build/durable-devserver -file build/durable-runs.db

telemetry: ## build buddy-telemetry, which sends traces and metrics to OpenTelemetry (docs/telemetry.md)
	@CGO_ENABLED=0 $(GO) -C telemetry build -trimpath -ldflags "-s -w" -o '$(CURDIR)/buddy-telemetry' .

pictures: build ## retake the pictures in README.md and docs/, with a scripted model (needs DejaVu Sans Mono; ONLY=screen)
	@$(GO) -C .ci/pictures run . -buddy '$(CURDIR)/buddy' -out '$(CURDIR)/docs' $(if $(ONLY),-only '$(ONLY)') $(if $(FONT),-font '$(FONT)')
