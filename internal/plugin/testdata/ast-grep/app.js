function parse(é, x) {
  console.log(x)
  const ö = eval(x); return ö
}
module.exports = parse
