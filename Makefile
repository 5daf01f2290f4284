# attnviz - build, test, install. `make help` lists the targets.

VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= cc
BUILD ?= build
PKG_CONFIG ?= pkg-config

CURSES_CFLAGS := $(shell $(PKG_CONFIG) --cflags ncursesw 2>/dev/null)
CURSES_LIBS := $(shell $(PKG_CONFIG) --libs ncursesw 2>/dev/null || echo -lncursesw)

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
# run time.
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
ISAS := base $(if $(filter x86_64-% amd64-%,$(MACHINE)),avx2 avx512)
ISA_FLAGS_base :=
ISA_FLAGS_avx2 := -mavx2 -mfma
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512
comma := ,
CPPFLAGS += -DAV_ISAS='$(foreach i,$(ISAS),X($(i)))'

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

all: $(BIN)

$(BIN): $(TOP_OBJECTS) $(LIB)
	$(CC) $(LDFLAGS) -o $@ $(TOP_OBJECTS) $(LIB) $(CURSES_LIBS) -lm

$(LIB): $(LIB_OBJECTS)
	$(AR) rcs $@ $(LIB_OBJECTS)

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

define kernel_rule
$$(BUILD)/obj/math/kernel_%.$(1).o: src/math/kernel_%.c
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) -DAV_ISA=$(1) -DAV_ISA_$(1) $$(CFLAGS) -O3 $$(ISA_FLAGS_$(1)) $$(CONTRACT) -MMD -MP -c -o $$@ $$<
$$(BUILD)/obj/math/kernel_scores.$(1).o: CONTRACT := -ffp-contract=fast
endef
$(foreach i,$(ISAS),$(eval $(call kernel_rule,$(i))))

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

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all clean
