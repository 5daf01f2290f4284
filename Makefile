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
CURSES_CFLAGS = $(shell $(PKG_CONFIG) --cflags ncursesw)
CURSES_LIBS = $(shell $(PKG_CONFIG) --libs ncursesw)
CMOCKA_FLAGS = $(shell $(PKG_CONFIG) --cflags --libs cmocka)
VTERM_FLAGS = $(shell $(PKG_CONFIG) --cflags --libs vterm) -lutil

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wold-style-definition -Wvla -Wcast-qual -Wpointer-arith -Wwrite-strings \
            -Wundef -Wdouble-promotion -Wformat=2
OPT ?= -O2 -g
CPPFLAGS += -Iinclude -I$(BUILD)/gen -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -D_XOPEN_SOURCE_EXTENDED \
            -DAV_VERSION='"$(VERSION)"' -DAV_DATADIR='"$(PREFIX)/share/attnviz"'
# No contraction: the same bits on every machine, with or without fused
# multiply-add. kernel_scores.c alone wants it, where it changes nothing.
CFLAGS += -std=c11 -ffp-contract=off $(OPT) $(WARNINGS) $(if $(CI),-Werror)

# One object of each kernel per instruction set; the processor's is picked at
# run time. The compiler may be absent until `setup` has run.
MACHINE := $(or $(shell $(CC) -dumpmachine 2>/dev/null),$(shell uname -m)-)
ISAS := base $(if $(filter x86_64-% amd64-%,$(MACHINE)),avx2 avx512)
ISA_FLAGS_base :=
ISA_FLAGS_avx2 := -mavx2 -mfma
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512
CPPFLAGS += -DAV_ISAS='$(foreach i,$(ISAS),X($(i)))'

# ---- What is made of what ---------------------------------------------------

LAYERS := base math model io draw app out top
KERNEL_SOURCES := $(wildcard src/math/kernel_*.c)
TOP_SOURCES := src/out/terminal.c $(wildcard src/top/*.c)
LIB_SOURCES := $(filter-out $(KERNEL_SOURCES) $(TOP_SOURCES),$(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c)))
LIB_OBJECTS := $(LIB_SOURCES:src/%.c=$(BUILD)/obj/%.o) \
               $(foreach i,$(ISAS),$(KERNEL_SOURCES:src/math/%.c=$(BUILD)/obj/math/%.$(i).o))
TOP_OBJECTS := $(TOP_SOURCES:src/%.c=$(BUILD)/obj/%.o)
VIEW_SOURCES := $(wildcard src/draw/view_*.c)
THEMES := $(wildcard themes/*.theme)
LIB := $(BUILD)/libattnviz.a
BIN := $(BUILD)/attnviz
GENERATED := $(BUILD)/gen/views.inc $(BUILD)/gen/themes.inc

UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
TERMINAL_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/terminal/test_*.c))
TERMINAL_HELPERS := $(filter-out tests/terminal/test_%,$(wildcard tests/terminal/*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
SCRIPT_TESTS := $(sort $(wildcard tests/*/*.test))

# In `make setup TARGET`, everything that is built waits for the set-up.
AFTER_SETUP := $(filter setup,$(MAKECMDGOALS))

all: $(BIN) ## build the program (the default)

$(BIN): $(TOP_OBJECTS) $(LIB)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $(TOP_OBJECTS) $(LIB) $(CURSES_LIBS) -lm

$(LIB): $(LIB_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $(LIB_OBJECTS)

$(BUILD)/obj/out/terminal.o: CFLAGS += $(CURSES_CFLAGS)
$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

define kernel_rule
$$(BUILD)/obj/math/kernel_%.$(1).o: src/math/kernel_%.c $$(BUILD)/flags | $$(AFTER_SETUP)
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) -DAV_ISA=$(1) -DAV_ISA_$(1) $$(CFLAGS) -O3 $$(ISA_FLAGS_$(1)) $$(CONTRACT) -MMD -MP -c -o $$@ $$<
$$(BUILD)/obj/math/kernel_scores.$(1).o: CONTRACT := -ffp-contract=fast
endef
$(foreach i,$(ISAS),$(eval $(call kernel_rule,$(i))))

# Rewritten only when the flags have changed, and then everything is stale.
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(CC) $(CPPFLAGS) $(OPT) $(ISAS)) | cmp -s - $@ || \
	  printf '%s\n' $(call quote,$(CC) $(CPPFLAGS) $(OPT) $(ISAS)) > $@
quote = '$(subst ','\'',$(1))'

# The views table is made from the names of the files that hold views.
$(BUILD)/gen/views.inc: $(VIEW_SOURCES) Makefile
	@mkdir -p $(@D)
	@for f in $(notdir $(basename $(VIEW_SOURCES))); do echo "X($${f#view_})"; done > $@
$(BUILD)/obj/draw/views.o: $(BUILD)/gen/views.inc

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

# ---- Tests ------------------------------------------------------------------

TEST_CC = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@

$(UNIT_TESTS): $(BUILD)/%: %.c $(LIB) $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(TEST_CC) $< $(LIB) $(CMOCKA_FLAGS) -lm

$(TERMINAL_TESTS): $(BUILD)/%: %.c $(TERMINAL_HELPERS) $(LIB) $(BUILD)/flags | $(AFTER_SETUP)
	@mkdir -p $(@D)
	$(TEST_CC) $< $(TERMINAL_HELPERS) $(LIB) $(CMOCKA_FLAGS) $(VTERM_FLAGS) -lm

unit: $(UNIT_TESTS) ## run the unit tests alone
	@tests/run $(UNIT_TESTS)

clean: ## remove what was built
	rm -rf $(BUILD)

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s%s\n", $$1, $$2 }'

-include $(LIB_OBJECTS:.o=.d) $(TOP_OBJECTS:.o=.d) $(UNIT_TESTS:=.d) $(TERMINAL_TESTS:=.d)
.PHONY: all setup run unit clean help always
