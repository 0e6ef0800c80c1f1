// Vectors and 4 × 4 matrices (column by column, as WebGL takes them), and how numbers are written.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const normalized = (a) => scaled(a, 1 / (length(a) || 1));
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const mix = (a, b, t) => a + (b - a) * t;

const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

function product(a, b) {
  const m = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      m[4 * column + row] = sum;
    }
  }
  return m;
}

function transformed(m, p) {
  const w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
  return [0, 1, 2].map((row) => (m[row] * p[0] + m[row + 4] * p[1] + m[row + 8] * p[2] + m[row + 12]) / w);
}

// World to view: looking from `eye` along `forward`; `right` and `up` complete the frame.
function viewMatrix(eye, right, up, forward) {
  const back = scaled(forward, -1);
  return new Float32Array([
    right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ]);
}

function perspective(tanHalf, aspect, near, far) {
  const m = new Float32Array(16);
  m[0] = 1 / (tanHalf * aspect);
  m[5] = 1 / tanHalf;
  m[10] = (far + near) / (near - far);
  m[11] = -1;
  m[14] = (2 * far * near) / (near - far);
  return m;
}

function orthographic(half, near, far) {
  const m = new Float32Array(16);
  m[0] = m[5] = 1 / half;
  m[10] = -2 / (far - near);
  m[14] = -(far + near) / (far - near);
  m[15] = 1;
  return m;
}

// The n-th number of the van der Corput sequence: evenly spread over 0..1.
function spread(n, base) {
  let share = 1, sum = 0;
  for (let k = n; k > 0; k = Math.floor(k / base)) {
    share /= base;
    sum += share * (k % base);
  }
  return sum;
}

// A number with so many digits that count: 0.01234, 12.34, 1.234e7.
function shown(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (!Number.isFinite(size)) return value > 0 ? "∞" : "−∞";
  let text;
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    text = `${mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa}e${Number(exponent)}`;
  } else {
    text = value.toPrecision(digits);
    if (text.includes("e")) text = String(Math.round(value));
    if (text.includes(".")) text = text.replace(/\.?0+$/, "");
  }
  return text.replace(/-/g, "−");
}

// With its unit; pascals in thousands, millions, milliards.
function quantity(value, unit, digits = 3) {
  const prefixes = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const [factor, prefix] = (unit === "Pa" && prefixes.find(([size]) => Math.abs(value) >= size)) || [1, ""];
  return `${shown(value / factor, digits)} ${prefix}${unitShown(unit)}`.trim();
}

const counted = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u2009");
const unitShown = (unit) => (unit || "").replace(/^1(?=\/)/, "1").replace(/([a-z])([23])\b/g, (_, letter, power) => letter + (power === "2" ? "²" : "³")).replace(/^1$/, "");
const worded = (name) => name.replace(/_/g, " ");

// Round values in a range, about `n` of them.
function ticks(low, high, n = 5) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / n, power = 10 ** Math.floor(Math.log10(rough)), share = rough / power;
  const step = power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) found.push(k === 0 ? 0 : k * step);
  return found;
}

// Powers of ten in a range; 2 and 5 between them where there are few.
function logTicks(low, high) {
  const found = [];
  const few = Math.log10(high / low) < 2.2, stride = Math.max(1, Math.ceil(Math.log10(high / low) / 7));
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += stride) {
    for (const factor of few ? [1, 2, 5] : [1]) {
      const value = factor * 10 ** power;
      if (value >= low * 0.9999 && value <= high * 1.0001) found.push(value);
    }
  }
  return found;
}
