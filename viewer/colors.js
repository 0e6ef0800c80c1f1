// Colours of bodies and maps from numbers to colours: the same as in pictures drawn by `phyxel render`.

const BODY_COLORS = ["#d96c47", "#2f8fa8", "#e3b04b", "#6a5fb5", "#6fa858", "#c8557c", "#4a78c4", "#a57a56", "#58b89c", "#9aa1ad"];

// Lightness, chroma and hue (degrees) in OKLCh at equal distances of the value.
const SEQUENTIAL = [
  [0.270, 0.125, 318], [0.377, 0.125, 287], [0.484, 0.105, 250], [0.591, 0.100, 205],
  [0.698, 0.130, 163], [0.805, 0.170, 132], [0.912, 0.175, 103],
];
const DIVERGING = [
  [0.400, 0.150, 262], [0.590, 0.130, 255], [0.770, 0.075, 245], [0.930, 0.006, 100],
  [0.770, 0.085, 40], [0.590, 0.150, 32], [0.400, 0.150, 24],
];

const encoded = (c) => { const x = clamp(c, 0, 1); return x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055; };
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const bytesOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// After the tenth body the colours come again, darker, then lighter.
function bodyColor(index) {
  const bytes = bytesOf(BODY_COLORS[index % BODY_COLORS.length]), round = Math.floor(index / BODY_COLORS.length);
  if (round === 0) return bytes;
  const change = round % 2 === 1 ? (x) => 0.55 * x : (x) => 0.6 * x + 0.35;
  return bytes.map((byte) => Math.round(255 * encoded(change(linear(byte / 255)))));
}
const cssColor = (bytes) => `rgb(${bytes.join(" ")})`;

// OKLab (Ottosson 2020) to linear sRGB.
function linearOfLab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function mapColor(stops, share) {
  const place = clamp(share, 0, 1) * (stops.length - 1), below = Math.min(Math.floor(place), stops.length - 2);
  const lab = ([L, chroma, hue]) => [L, chroma * Math.cos(hue * Math.PI / 180), chroma * Math.sin(hue * Math.PI / 180)];
  const [from, to] = [lab(stops[below]), lab(stops[below + 1])];
  return linearOfLab(from.map((x, k) => mix(x, to[k], place - below))).map((c) => Math.round(255 * encoded(c)));
}

const MAP_SIZE = 256;
// A map as pixels for a texture.
function mapPixels(stops) {
  const pixels = new Uint8Array(4 * MAP_SIZE);
  for (let k = 0; k < MAP_SIZE; k++) pixels.set([...mapColor(stops, k / (MAP_SIZE - 1)), 255], 4 * k);
  return pixels;
}

// How particles are coloured: by body, or by a column from `low` to `high`.
class Coloring {
  constructor() {
    this.column = null;
    this.unit = "";
    this.automatic = true;
    this.log = false;
    this.fixed = [0, 1];
    this.seen = null;
  }

  // The ends of the map: values that differ, positive ones if it is logarithmic.
  get range() {
    let [low, high] = this.automatic ? this.seen || [0, 1] : this.fixed;
    if (this.log) {
      if (!(high > 0)) high = 1;
      if (!(low > high * 1e-6)) low = high * 1e-4;
    } else if (this.automatic && low < 0 && high > 0) {
      // the middle of a diverging map must be zero
      [low, high] = [Math.min(low, -high), Math.max(high, -low)];
    }
    if (!(high > low)) {
      const margin = Math.abs(high) * 0.5 || 0.5;
      [low, high] = this.log ? [high / 2, high * 2] : [high - margin, high + margin];
    }
    return [low, high];
  }

  get stops() {
    const [low, high] = this.range;
    return !this.log && low < 0 && high > 0 ? DIVERGING : SEQUENTIAL;
  }

  choose(column, unit, range) {
    this.column = column;
    this.unit = unit;
    this.seen = range && range.every(Number.isFinite) ? [...range] : null;
    this.automatic = true;
  }

  // Values of a moment widen the range; returns whether they did.
  see(range) {
    if (!range || !range.every(Number.isFinite)) return false;
    const before = this.seen;
    this.seen = before ? [Math.min(before[0], range[0]), Math.max(before[1], range[1])] : [...range];
    return !before || before[0] !== this.seen[0] || before[1] !== this.seen[1];
  }
}

// Draws the legend into a rectangle of a 2D context, in CSS pixels.
function drawColorBar(context, coloring, width, height, ink, soft) {
  const [low, high] = coloring.range, left = 6, barWidth = 12, top = 30, bottom = height - 8;
  const span = bottom - top;
  for (let k = 0; k < span; k++) {
    context.fillStyle = cssColor(mapColor(coloring.stops, 1 - k / (span - 1)));
    context.fillRect(left, top + k, barWidth, 1.5);
  }
  context.font = "600 13px system-ui, sans-serif";
  context.fillStyle = ink;
  context.textBaseline = "alphabetic";
  const unit = unitShown(coloring.unit);
  context.fillText(worded(coloring.column), left, 13, width - left);
  if (unit) {
    context.font = "12px system-ui, sans-serif";
    const nameWidth = (context.font = "600 13px system-ui, sans-serif", context.measureText(worded(coloring.column)).width);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = soft;
    if (nameWidth + 50 < width) context.fillText(unit, left + nameWidth + 6, 13);
    else context.fillText(unit, left, 26);
  }
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  const share = coloring.log
    ? (value) => Math.log(value / low) / Math.log(high / low)
    : (value) => (value - low) / (high - low);
  for (const value of coloring.log ? logTicks(low, high) : ticks(low, high, 5)) {
    const y = bottom - share(value) * span;
    context.fillStyle = soft;
    context.fillRect(left + barWidth + 2, Math.round(y) - 0.5, 4, 1);
    context.fillStyle = ink;
    context.fillText(shown(value, 3), left + barWidth + 10, y);
  }
}
