#!/bin/sh
# Writes a shell's completions from the program's own tables.
#
# usage: completions.sh PROGRAM attnviz.bash|_attnviz|attnviz.fish
set -eu

program=$1
names() { "$program" --no-config --list "$1" | sed 1d | cut -f1 | tr '\n' ' '; }

commands=$(names commands)
formats=$("$program" --no-config --list commands | awk -F'\t' 'NR > 1 && $2 { print $2 }' | tr ' ' '\n' | sort -u | tr '\n' ' ')

# A line for every option: long name, letter, argument, values, meaning, all
# separated by `~`. Where the table has no values, the other tables do. A quote
# in a meaning is written as it stands within quotes.
options() {
    "$program" --no-config --list options | sed 1d |
        awk -F'\t' -v views="$(names views)" -v themes="$(names themes)" -v formats="$formats" '
            $1 == "--view" { $5 = views }
            $1 == "--theme" { $5 = themes }
            $1 == "--format" { $5 = formats }
            { sub(/ $/, "", $5); gsub(/\047/, "\047\\\047\047", $7); print $1 "~" $2 "~" $3 "~" $5 "~" $7 }'
}

# NAME VALUE... of every parameter; values only for those that take words.
parameters() {
    "$program" --no-config --list params | sed 1d | awk -F'\t' -v variants="$(names variants)" '
        $1 == "variant" || $1 == "compare" { $2 = variants }
        $1 == "variants" { $2 = "all " variants }
        $2 ~ /\.\.|numbers/ { $2 = "" }
        { print $1, $2 }'
}

# Names of those that take numbers, which can be swept.
numbers() {
    "$program" --no-config --list params | awk -F'\t' '$2 ~ /\.\./ { printf "%s ", $1 }'
}

bash_completions() {
    echo '# bash completion for attnviz, made by completions.sh'
    echo '_attnviz() {'
    echo '    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}'
    echo '    COMPREPLY=()'
    echo '    # NAME=VALUE arrives as three words.'
    echo '    if [[ $cur == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-1]} cur=; elif [[ $prev == "=" ]]; then'
    echo '        prev=${COMP_WORDS[COMP_CWORD-2]}; fi'
    echo '    case $prev in'
    parameters | while read -r name values; do
        [ -z "$values" ] || echo "    $name) COMPREPLY=(\$(compgen -W '$values' -- \"\$cur\")); return ;;"
    done
    echo "    --set | -s) compopt -o nospace; COMPREPLY=(\$(compgen -S = -W '$(names params)' -- \"\$cur\")); return ;;"
    echo "    --over) compopt -o nospace; COMPREPLY=(\$(compgen -S = -W '$(numbers)' -- \"\$cur\")); return ;;"
    options | while IFS='~' read -r long letter arg values _; do
        case $arg in '' | NAME=*) continue ;; esac
        case $arg in *PATH*) files='-f' ;; *) files= ;; esac
        echo "    $long${letter:+ | $letter}) COMPREPLY=(\$(compgen $files -W '$values' -- \"\$cur\")); return ;;"
    done
    echo '    esac'
    echo '    if [[ $cur == -* ]]; then'
    echo "        COMPREPLY=(\$(compgen -W '$(options | cut -d'~' -f1 | tr '\n' ' ')' -- \"\$cur\"))"
    echo '    else'
    echo "        COMPREPLY=(\$(compgen -f -W '$commands' -- \"\$cur\"))"
    echo '    fi'
    echo '}'
    echo 'complete -o filenames -F _attnviz attnviz'
}

zsh_completions() {
    echo '#compdef attnviz'
    echo '# zsh completion for attnviz, made by completions.sh'
    echo
    echo '_attnviz_set() {'
    echo '    case $PREFIX in'
    parameters | while read -r name values; do
        [ -z "$values" ] || echo "    $name=*) compset -P '*='; compadd -- $values ;;"
    done
    echo '    *=*) ;;'
    echo "    *) compadd -S = -- $(names params);;"
    echo '    esac'
    echo '}'
    echo
    echo '_arguments \'
    options | while IFS='~' read -r long letter arg values text; do
        case $arg in
        '') action= ;;
        NAME=VALUE) action=":$arg:_attnviz_set" ;;
        NAME=*) action=":$(printf '%s' "$arg" | sed 's/:/\\:/g'):{ compadd -S = -- $(numbers) }" ;;
        *'|PATH') action=":$arg:{ compadd -- $values; _files }" ;;
        PATH) action=":$arg:_files" ;;
        *) action=":$arg:${values:+($values)}" ;;
        esac
        [ "$long" = --set ] && again='*' || again=
        [ -z "$arg" ] || long="$long="
        text=$(printf '%s' "$text" | sed 's/[]:[]/\\&/g')
        echo "    '$again$long[$text]$action' \\"
        [ -z "$letter" ] || echo "    '$again$letter[$text]$action' \\"
    done
    echo "    '*:command or file:{ (( CURRENT == 2 )) && compadd -- $commands; _files }'"
}

fish_completions() {
    echo '# fish completion for attnviz, made by completions.sh'
    echo "complete -c attnviz -n __fish_is_first_arg -a '$commands'"
    options | while IFS='~' read -r long letter arg values text; do
        rest=
        [ -z "$letter" ] || rest="$rest -s ${letter#-}"
        case $long:$arg in
        *:) ;;
        --set:*) rest="$rest -x -a '$(names params | sed 's/ /= /g')'" ;;
        --over:*) rest="$rest -x -a '$(numbers | sed 's/ /= /g')'" ;;
        *PATH*) rest="$rest -r -F${values:+ -a '$values'}" ;;
        *) rest="$rest -x${values:+ -a '$values'}" ;;
        esac
        echo "complete -c attnviz -l ${long#--}$rest -d '$text'"
    done
}

case $2 in
*.bash) bash_completions ;;
*.fish) fish_completions ;;
*) zsh_completions ;;
esac
