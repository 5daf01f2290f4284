# attnviz - build, test, install. `make help` lists the targets.

VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= cc
BUILD ?= build
PKG_CONFIG ?= pkg-config
FUZZ_SECONDS ?= 60

# ---- Flags ------------------------------------------------------------------

# Homebrew keeps its ncurses out of the default search path.
ifeq ($(shell uname -s),Darwin)
export PKG_CONFIG_PATH := $(shell brew --prefix ncurses 2>/dev/null)/lib/pkgconfig:$(PKG_CONFIG_PATH)
endif

# Recursive, so that they are asked for when used: `make setup check` installs
# the libraries in the same run.
# The library's wish for an older _XOPEN_SOURCE is met by the newer one below.
CURSES_CFLAGS = $(filter-out -D_XOPEN_SOURCE=%,$(shell $(PKG_CONFIG) --cflags ncursesw))
CURSES_LIBS = $(shell $(PKG_CONFIG) --libs ncursesw)
# Libraries that the program can do without: `make LIBZIP=` builds without.
CJSON = $(shell $(PKG_CONFIG) --exists libcjson && echo libcjson)
LIBZIP = $(shell $(PKG_CONFIG) --exists libzip && echo libzip)
CJSON_CFLAGS = $(if $(CJSON),-DAV_HAVE_CJSON $(shell $(PKG_CONFIG) --cflags $(CJSON)))
LIBZIP_CFLAGS = $(if $(LIBZIP),-DAV_HAVE_LIBZIP $(shell $(PKG_CONFIG) --cflags $(LIBZIP)))
FILE_LIBS = $(if $(CJSON)$(LIBZIP),$(shell $(PKG_CONFIG) --libs $(CJSON) $(LIBZIP)))
CMOCKA_FLAGS = $(shell $(PKG_CONFIG) --cflags --libs cmocka)
VTERM_FLAGS = $(shell $(PKG_CONFIG) --cflags --libs vterm) -lutil

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wold-style-definition -Wvla -Wcast-qual -Wpointer-arith -Wwrite-strings \
            -Wundef -Wdouble-promotion -Wformat=2
OPT ?= -O2 -g
CPPFLAGS += -Iinclude -I$(BUILD)/gen -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -D_XOPEN_SOURCE_EXTENDED \
            -DAV_VERSION='"$(VERSION)"'
# No contraction: the same bits on every machine, with or without fused
# multiply-add. kernel_scores.c wants it, where it changes nothing; products,
# at the price of differences from sets without; and what measures its rate.
# Compilers make vectors of comparisons where these need set no flags.
CFLAGS += -std=c11 -ffp-contract=off $(OPT) $(WARNINGS) $(if $(CI),-Werror)

# One object of each kernel per instruction set; the processor's is picked at
# run time. The compiler may be absent until `setup` has run.
MACHINE := $(or $(shell $(CC) -dumpmachine 2>/dev/null),$(shell uname -m)-)
ISAS := base $(if $(filter x86_64-% amd64-%,$(MACHINE)),avx2 avx512)
ISA_FLAGS_base :=
ISA_FLAGS_avx2 := -mavx2 -mfma
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512
CPPFLAGS += -DAV_ISAS='$(foreach i,$(ISAS),X($(i)))'

# Commands are shown in short; `make V=1` shows them whole, `make -s` none.
Q := $(if $(V),,@)
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(SILENT),@:,@printf '  %-7s %s\n' $(1) $@)

# ---- What is made of what ---------------------------------------------------

LAYERS := base math model io draw app out top
KERNEL_SOURCES := $(wildcard src/math/kernel_*.c)
# What the library leaves out: main, and what needs a terminal.
TOP_SOURCES := $(wildcard src/out/terminal*.c) src/top/cmd_live.c src/top/main.c
LIB_SOURCES := $(filter-out $(KERNEL_SOURCES) $(TOP_SOURCES),$(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c)))
LIB_OBJECTS := $(LIB_SOURCES:src/%.c=$(BUILD)/obj/%.o) \
               $(foreach i,$(ISAS),$(KERNEL_SOURCES:src/math/%.c=$(BUILD)/obj/math/%.$(i).o))
TOP_OBJECTS := $(TOP_SOURCES:src/%.c=$(BUILD)/obj/%.o)
VIEW_SOURCES := $(wildcard src/draw/view_*.c)
STUDY_SOURCES := $(sort $(wildcard src/model/study_*.c))
THEMES := $(wildcard themes/*.theme)
LIB := $(BUILD)/libattnviz.a
BIN := $(BUILD)/attnviz
GENERATED := $(BUILD)/gen/views.inc $(BUILD)/gen/studies.inc $(BUILD)/gen/themes.inc

UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
TERMINAL_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/terminal/test_*.c))
TERMINAL_HELPERS := $(filter-out tests/terminal/test_%,$(wildcard tests/terminal/*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
REPLAYS := $(FUZZERS:=.replay)
SCRIPT_TESTS := $(sort $(wildcard tests/*/*.test))

# In `make setup TARGET`, everything that is built waits for the set-up.
AFTER_SETUP := $(filter setup,$(MAKECMDGOALS))

all: $(BIN) ## build the program (the default)

$(BIN): $(TOP_OBJECTS) $(LIB)
	$(call say,LINK)
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $(TOP_OBJECTS) $(LIB) $(CURSES_LIBS) $(FILE_LIBS) -pthread -lm

$(LIB): $(LIB_OBJECTS)
	$(call say,AR)
	@rm -f $@
	$(Q)$(AR) qcs $@ $(LIB_OBJECTS)

$(BUILD)/obj/out/terminal.o: CFLAGS += $(CURSES_CFLAGS)
$(BUILD)/obj/io/dump_safetensors.o: CFLAGS += $(CJSON_CFLAGS)
$(BUILD)/obj/io/dump_npz.o: CFLAGS += $(LIBZIP_CFLAGS)
$(BUILD)/obj/io/dump_safetensors.o $(BUILD)/obj/io/dump_npz.o: $(BUILD)/with
$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

define kernel_rule
$$(BUILD)/obj/math/kernel_%.$(1).o: src/math/kernel_%.c $$(BUILD)/flags | $$(AFTER_SETUP)
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(CC) $$(CPPFLAGS) -DAV_ISA=$(1) -DAV_ISA_$(1) $$(CFLAGS) -O3 -fno-math-errno $$(ISA_FLAGS_$(1)) $$(SPECIAL) -MMD -MP -c -o $$@ $$<
$$(foreach k,scores product rate,$$(BUILD)/obj/math/kernel_$$(k).$(1).o): SPECIAL := -ffp-contract=fast
$$(BUILD)/obj/math/kernel_attention.$(1).o: SPECIAL := -fno-trapping-math
endef
$(foreach i,$(ISAS),$(eval $(call kernel_rule,$(i))))

# Rewritten only when the flags have changed, and then everything is stale.
$(BUILD)/flags: FLAGS = $(CC) $(CPPFLAGS) $(OPT)
$(BUILD)/prefix: FLAGS = $(PREFIX)
$(BUILD)/with: FLAGS = $(CJSON) $(LIBZIP)
$(BUILD)/flags $(BUILD)/prefix $(BUILD)/with: always | $(AFTER_SETUP)
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(FLAGS)) | cmp -s - $@ || printf '%s\n' $(call quote,$(FLAGS)) > $@
quote = '$(subst ','\'',$(1))'

# The one file that knows where the program is installed.
$(BUILD)/obj/app/theme_files.o: CPPFLAGS += -DAV_DATADIR='"$(PREFIX)/share/attnviz"'
$(BUILD)/obj/app/theme_files.o: $(BUILD)/prefix

# The views table is made from the files that hold views, sorted by `.order`.
$(BUILD)/gen/views.inc: $(VIEW_SOURCES) Makefile
	@mkdir -p $(@D)
	@for f in $(VIEW_SOURCES); do n=$${f##*/view_}; \
	  sed -n "s/^ *\.order = \([0-9]*\),.*/\1 X($${n%.c})/p" $$f; done | sort -n -u -k 1,1 | cut -d' ' -f2 > $@.tmp
	@[ "$$(wc -l < $@.tmp)" -eq $(words $(VIEW_SOURCES)) ] || { rm $@.tmp; \
	  echo "src/draw/view_*.c: each needs a line '.order = NUMBER,' of its own, no number twice" >&2; exit 1; }
	@mv $@.tmp $@
$(BUILD)/obj/draw/views.o: $(BUILD)/gen/views.inc

# The table of studies is made from the files that hold studies.
$(BUILD)/gen/studies.inc: $(STUDY_SOURCES) Makefile
	@mkdir -p $(@D)
	@for f in $(STUDY_SOURCES); do n=$${f##*/study_}; echo "X($${n%.c})"; done > $@
$(BUILD)/obj/model/studies.o: $(BUILD)/gen/studies.inc

# Built-in themes: the text of every file in themes/.
$(BUILD)/gen/themes.inc: $(THEMES) Makefile
	@mkdir -p $(@D)
	@for f in $(THEMES); do n=$${f##*/}; printf 'X("%s",\n' "$${n%.theme}"; \
	  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $$f; echo ')'; done > $@
$(BUILD)/obj/draw/theme.o: $(BUILD)/gen/themes.inc

# ---- Set up, run, install ---------------------------------------------------

setup: ## install what building and testing need and this machine lacks
	@CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' .ci/setup

run: $(BIN) ## build and start the program; ARGS='...' are its arguments
	@$(BIN) $(ARGS)

# Completions are written from the program's own tables.
COMPLETIONS := $(BUILD)/completions/attnviz.bash $(BUILD)/completions/_attnviz $(BUILD)/completions/attnviz.fish
completions: $(COMPLETIONS)
$(COMPLETIONS): $(BIN) src/top/completions.sh
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)src/top/completions.sh $(BIN) $(@F) > $@.tmp && mv $@.tmp $@

SHARE := share/attnviz/themes
INSTALLED := bin/attnviz share/man/man1/attnviz.1 share/bash-completion/completions/attnviz \
             share/zsh/site-functions/_attnviz share/fish/vendor_completions.d/attnviz.fish $(THEMES:themes/%=$(SHARE)/%)

install: $(BIN) $(COMPLETIONS) ## install below DESTDIR and PREFIX (/usr/local)
	mkdir -p $(sort $(dir $(INSTALLED:%=$(DESTDIR)$(PREFIX)/%)))
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/attnviz
	install -m 644 attnviz.1 $(DESTDIR)$(PREFIX)/share/man/man1/attnviz.1
	install -m 644 $(THEMES) $(DESTDIR)$(PREFIX)/$(SHARE)/
	install -m 644 $(BUILD)/completions/attnviz.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/attnviz
	install -m 644 $(BUILD)/completions/_attnviz $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_attnviz
	install -m 644 $(BUILD)/completions/attnviz.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/attnviz.fish

# Folders of our own go; below DESTDIR also those that are empty now.
uninstall: ## remove what `make install` put there
	rm -f $(INSTALLED:%=$(DESTDIR)$(PREFIX)/%)
	@rmdir $(DESTDIR)$(PREFIX)/share/attnviz/themes $(DESTDIR)$(PREFIX)/share/attnviz 2>/dev/null || true
	@if [ -n "$(DESTDIR)" ]; then cd $(DESTDIR) && \
	  for d in $(sort $(dir $(INSTALLED:%=.$(PREFIX)/%))); do rmdir -p "$$d" 2>/dev/null || true; done; fi

# ---- Tests ------------------------------------------------------------------

TEST_CC = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@

$(UNIT_TESTS): $(BUILD)/%: %.c $(LIB) $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(TEST_CC) $< $(LIB) $(CMOCKA_FLAGS) $(FILE_LIBS) -pthread -lm

$(TERMINAL_TESTS): $(BUILD)/%: %.c $(TERMINAL_HELPERS) $(LIB) $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(TEST_CC) $< $(TERMINAL_HELPERS) $(LIB) $(CMOCKA_FLAGS) $(VTERM_FLAGS) $(FILE_LIBS) -pthread -lm

# What the test scripts and the terminal tests look for.
export ATTNVIZ := $(BIN)
export ATTNVIZ_BUILD := $(BUILD)
export ATTNVIZ_PREFIX := $(PREFIX)

SANITIZE := -O1 -g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZED := $(BUILD)/sanitize
SANITIZED_SUITES = $(UNIT_TESTS:$(BUILD)/%=$(SANITIZED)/%) 'ATTNVIZ=$(SANITIZED)/attnviz tests/golden/golden.test' \
  $(foreach r,$(REPLAYS),'$(r:$(BUILD)/%=$(SANITIZED)/%) tests/fuzz/corpus/$(patsubst fuzz_%.replay,%,$(notdir $(r)))/*')

check: all programs sanitized $(COMPLETIONS) ## run every test
	@tests/run $(UNIT_TESTS) $(TERMINAL_TESTS) $(SCRIPT_TESTS) $(SANITIZED_SUITES)

# A fuzz target over its corpus, without a fuzzer.
$(REPLAYS): $(BUILD)/%.replay: %.c tests/fuzz/replay.c $(LIB) $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(TEST_CC) $< tests/fuzz/replay.c $(LIB) $(FILE_LIBS) -pthread -lm

unit: $(UNIT_TESTS) ## run the unit tests alone
	@tests/run $(UNIT_TESTS)

programs: $(UNIT_TESTS) $(TERMINAL_TESTS) $(REPLAYS)

sanitized: | $(AFTER_SETUP)
	+@$(MAKE) --no-print-directory BUILD=$(SANITIZED) OPT='$(SANITIZE)' all programs

sanitize: sanitized ## run unit, golden and terminal tests under ASan and UBSan
	@tests/run $(SANITIZED_SUITES) $(TERMINAL_TESTS:$(BUILD)/%='ATTNVIZ=$(SANITIZED)/attnviz $(SANITIZED)/%')

golden: $(BIN) ## refresh the golden screens and the pictures of the README
	tests/golden/refresh

docs: $(BIN) ## refresh the generated parts of the manual and the README
	tests/docs/refresh

LATENCY := $(BUILD)/tests/bench/bench_latency
$(LATENCY): $(BUILD)/%: %.c $(TERMINAL_HELPERS) $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(TEST_CC) $< $(TERMINAL_HELPERS) $(CMOCKA_FLAGS) $(VTERM_FLAGS)

bench: $(BIN) $(LATENCY) ## time stages and keys, and the same work in NumPy and PyTorch where installed
	@if command -v python3 >/dev/null; then python3 tests/bench/bench.py $(BIN); else $(BIN) bench --no-config; fi
	@echo; $(LATENCY)

experiments: $(BIN) ## train every task with five seeds and compare with what is known, two minutes
	@tests/bench/experiments

COVERED := $(BUILD)/coverage
coverage: ## tell which lines the tests reach
	+@$(MAKE) --no-print-directory BUILD=$(COVERED) OPT='-O0 -g --coverage' all programs completions
	@ATTNVIZ=$(COVERED)/attnviz ATTNVIZ_BUILD=$(COVERED) tests/run \
	  $(UNIT_TESTS:$(BUILD)/%=$(COVERED)/%) $(TERMINAL_TESTS:$(BUILD)/%=$(COVERED)/%) \
	  tests/golden/golden.test $(wildcard tests/cli/*.test) || true
	@tests/coverage $(COVERED)

FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all
fuzz: ## run each fuzzer for FUZZ_SECONDS (60); needs clang
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang OPT='$(FUZZ_FLAGS)' fuzzers
	@for f in $(FUZZERS:$(BUILD)/%=$(BUILD)/fuzz/%); do echo "$$f"; mkdir -p "$$f.corpus"; \
	  "$$f" -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -verbosity=0 -artifact_prefix="$$f." "$$f.corpus" \
	    tests/fuzz/corpus/"$${f##*/fuzz_}" || exit 1; done

fuzzers: $(FUZZERS)
$(FUZZERS): $(BUILD)/%: %.c $(LIB)
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(TEST_CC) -fsanitize=fuzzer $< $(LIB) $(FILE_LIBS) -pthread -lm

# ---- Style ------------------------------------------------------------------

C_FILES = $(wildcard include/attnviz/*.h src/*/*.[ch] tests/*/*.[ch])
LINT_DEFINES = $(CPPFLAGS) -DAV_ISA=base -DAV_ISA_base -DAV_DATADIR='"/usr/share/attnviz"'

# cppcheck takes an array that is written lane by lane, or by a callee, for
# one that is not; the compilers know better.
lint: $(GENERATED) ## clang-format, clang-tidy and cppcheck, all without findings
	clang-format --dry-run -Werror $(C_FILES)
	@printf '%s\n' $(LIB_SOURCES) $(KERNEL_SOURCES) $(TOP_SOURCES) | xargs -P 2 -I {} \
	  clang-tidy --quiet {} -- -std=c11 $(LINT_DEFINES) $(CURSES_CFLAGS) $(CJSON_CFLAGS) $(LIBZIP_CFLAGS)
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --error-exitcode=1 --inline-suppr \
	  --suppress=missingIncludeSystem --suppress=uninitvar --suppress=legacyUninitvar $(LINT_DEFINES) src

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  %-12s%s\n", $$1, $$2 }'

-include $(LIB_OBJECTS:.o=.d) $(TOP_OBJECTS:.o=.d) $(UNIT_TESTS:=.d) $(TERMINAL_TESTS:=.d) $(FUZZERS:=.d) $(REPLAYS:=.d) $(LATENCY:=.d)
.PHONY: all setup run completions install uninstall check unit programs sanitized sanitize golden docs bench experiments coverage fuzz fuzzers \
        lint clean help always
