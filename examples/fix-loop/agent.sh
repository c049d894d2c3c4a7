#!/bin/sh
# A fixer without a model, in the place of an agent: it reads the fix request and mends the first
# failure that it knows, one at a time. An agent would be started here in its stead, such as
#   claude -p "$FIX_REQUEST"
set -eu

mend() { # NAME SED-SCRIPT
  case $FIX_REQUEST in
    *"FAIL $1"*)
      sed "$2" total.sh >mended.sh
      mv mended.sh total.sh
      echo "mended $1"
      exit 0
      ;;
  esac
}

mend total 's/sum - price/sum + price/'
mend average 's/) \* \$#/) \/ $#/'
echo "this agent knows none of the failures" >&2
exit 1
