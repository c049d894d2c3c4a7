function same(a, b) {
  return a == b
}
var unused = 1
