// What the page is made of: its content, arrays from packed text, and numbers as words.
const content = JSON.parse(document.getElementById("content").textContent);

/** A packed array with its shape; `part(i, j)` is what is left after the first places are fixed. */
function unpacked(packed) {
  const text = atob(packed.data), n = text.length / packed.bytes, none = 2 ** (8 * packed.bytes) - 1;
  const values = new Float64Array(n);
  for (let i = 0, next = 0; i < n; i++) {
    let code = 0;
    for (let b = 0; b < packed.bytes; b++) code = 256 * code + text.charCodeAt(next++);
    values[i] = code === none ? NaN : packed.low + packed.step * code;
  }
  const strides = packed.shape.map((_, d) => packed.shape.slice(d + 1).reduce((a, b) => a * b, 1));
  return {
    shape: packed.shape,
    part(...places) {
      const start = places.reduce((sum, place, d) => sum + place * strides[d], 0);
      return values.subarray(start, start + (places.length ? strides[places.length - 1] : n));
    },
  };
}

/** A number with four digits; a dash for what is none. */
function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const rounded = Number(value.toPrecision(digits)), size = Math.abs(rounded);
  const text = size && (size < 1e-4 || size >= 1e6) ? rounded.toExponential() : String(rounded);
  return text.replaceAll("-", "−").replace("e+", "e");
}

function percent(value) {
  return value === null || !Number.isFinite(value) ? "–" : `${(100 * value).toFixed(1)} %`;
}

function counted(n, what) {
  return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}

/** An element; whatever comes as text stays text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function extremes(...arrays) {
  let low = Infinity, high = -Infinity;
  for (const values of arrays) {
    for (const value of values) {
      if (value === null || !Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : [0, 1];
}
