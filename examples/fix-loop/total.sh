# Totals of a shop. The numbers are cents.

# total adds its arguments.
total() {
  sum=0
  for price in "$@"; do
    sum=$((sum + price))
  done
  echo "$sum"
}

# average is the mean of its arguments, rounded down.
average() {
  echo $(($(total "$@") / $#))
}
