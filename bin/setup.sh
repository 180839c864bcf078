# Sourced by the commands in bin/, after they set `root`: makes .venv and installs locked requirements into it.
# shellcheck shell=sh

root=${root:?set root to the project folder before sourcing bin/setup.sh}
venv=$root/.venv
venv_python=$venv/bin/python

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# The version text of a Python that is new enough; fails for anything else.
python_version() {
    "$1" -c 'import sys; print(sys.version) if sys.version_info >= (3, 11) else sys.exit(1)' 2>/dev/null
}

# Sets `python` to the interpreter that makes the environment: $PYTHON, else the first that can.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        python_version "$PYTHON" >/dev/null || die "PYTHON=$PYTHON is not a Python 3.11 or newer."
        python=$PYTHON
        can_make_environments "$python" || die "$(advice_without_venv "$python")"
        return
    fi
    incomplete=
    for python in python3.11 python3.12 python3.13 python3 python; do
        python_version "$python" >/dev/null || continue
        can_make_environments "$python" && return
        incomplete=${incomplete:-$python}
    done
    [ -z "$incomplete" ] || die "$(advice_without_venv "$incomplete")"
    die "Python 3.11 or newer is needed and none was found; name one with PYTHON=/path/to/python3."
}

can_make_environments() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

advice_without_venv() {
    printf '%s\n' "$1 cannot make virtual environments; on Debian or Ubuntu run: apt-get install python3-venv"
}

# Whether .venv works, was made at this very path (its scripts name it), and is of the Python asked for, if any.
environment_is_good() {
    [ -x "$venv_python" ] || return 1
    has=$(python_version "$venv_python") || return 1
    head -n 2 "$venv/bin/pip" 2>/dev/null | grep -qF "$venv/bin/python" || return 1
    "$venv_python" -c 'import pip' 2>/dev/null || return 1
    [ -z "${PYTHON:-}" ] || [ "$has" = "$(python_version "$PYTHON")" ]
}

make_environment() {
    find_python
    say "Making $venv with $(command -v "$python")"
    rm -rf "$venv"
    "$python" -m venv "$venv" || die "$python could not make $venv."
}

fingerprint_of() {
    "$venv_python" -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"
}

installed() {
    environment_is_good && [ "$(cat "$venv/.installed-$1" 2>/dev/null)" = "$(fingerprint_of "$root/$1")" ]
}

# install_requirements FILE: the environment holds exactly the locked packages of FILE afterwards.
install_requirements() {
    installed "$1" && return
    (umask 077 && mkdir -p "$root/var" 2>/dev/null) && [ -w "$root/var" ] && [ -w "$root" ] \
        || die "Cannot write to $root: run this as its owner."
    exec 9>"$root/var/setup.lock"
    if command -v flock >/dev/null; then flock 9; fi
    if ! installed "$1"; then
        environment_is_good || make_environment
        say "Installing $1 (the first time this takes about half a minute)"
        PIP_USER=0 "$venv_python" -m pip install --quiet --quiet --disable-pip-version-check --no-input \
            --require-hashes --requirement "$root/$1" 9>&- \
            || die "pip could not install $1; its reason stands above."
        fingerprint_of "$root/$1" >"$venv/.installed-$1"
    fi
    exec 9>&-
}
