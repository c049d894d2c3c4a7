#!/bin/sh
# The tests of total.sh: a line for each that fails.
. ./total.sh
failed=0

expect() { # NAME WANT GOT
  if [ "$2" != "$3" ]; then
    echo "FAIL $1: want $2, got $3"
    failed=1
  fi
}

expect total 60 "$(total 10 20 30)"
expect average 20 "$(average 10 20 30)"
exit $failed
