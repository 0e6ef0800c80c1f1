// Line charts of the ledger: columns of the same unit in one chart, a cursor at the present time.

const CHART_HEIGHT = 128;
const FIRST_COLUMNS = ["kinetic_energy", "elastic_energy", "plastic_work"];

class Ledger {
  // `onSeek(time)` is called when a chart is clicked.
  constructor(onSeek) {
    this.onSeek = onSeek;
    this.columns = [];
    this.rows = [];
    this.chosen = new Set();
    this.charts = [];
    this.time = 0;
  }

  setInfo(ledger) {
    this.columns = ledger?.columns ?? [];
    this.rows = ledger?.rows ?? [];
    const names = this.columns.map((column) => column.name);
    this.chosen = new Set([...this.chosen].filter((name) => names.includes(name)));
    const hasNumbers = (name) => this.rows.length === 0 || this.rows.some((row) => row[names.indexOf(name)]);
    if (this.chosen.size === 0) FIRST_COLUMNS.filter((name) => names.includes(name) && hasNumbers(name)).forEach((name) => this.chosen.add(name));
    document.getElementById("ledger-section").hidden = this.columns.length < 2;
    this.listColumns();
    this.layOut();
  }

  // Rows from `first` on are replaced.
  addRows(rows, first = this.rows.length) {
    if (rows.length === 0) return;
    this.rows.splice(first, this.rows.length - first, ...rows);
    this.draw();
  }

  clear() {
    this.rows = [];
    this.draw();
  }

  setTime(time) {
    if (time === this.time) return;
    this.time = time;
    this.draw();
  }

  listColumns() {
    const list = document.getElementById("ledger-columns");
    list.replaceChildren(...this.columns.filter((column) => column.name !== "time").map((column) => {
      const label = document.createElement("label"), box = document.createElement("input"), unit = document.createElement("small");
      box.type = "checkbox";
      box.checked = this.chosen.has(column.name);
      box.onchange = () => {
        if (box.checked) this.chosen.add(column.name);
        else this.chosen.delete(column.name);
        this.layOut();
      };
      unit.textContent = unitShown(column.unit);
      label.append(box, worded(column.name), unit);
      return label;
    }));
  }

  // One chart per unit.
  layOut() {
    const groups = new Map();
    this.columns.forEach((column, place) => {
      if (!this.chosen.has(column.name)) return;
      // numbers without a unit have nothing in common
      const key = column.unit || column.name;
      if (!groups.has(key)) groups.set(key, { unit: column.unit, lines: [] });
      groups.get(key).lines.push({ name: column.name, place });
    });
    const parent = document.getElementById("charts");
    this.charts = [...groups.values()].map((group) => {
      const canvas = document.createElement("canvas");
      canvas.height = CHART_HEIGHT;
      canvas.style.height = `${CHART_HEIGHT}px`;
      canvas.setAttribute("aria-label", group.lines.map((line) => worded(line.name)).join(", "));
      const chart = { ...group, canvas };
      const seek = (event) => {
        if (!chart.toTime || !(event.buttons & 1 || event.type === "click")) return;
        this.onSeek(chart.toTime(event.offsetX));
      };
      canvas.onclick = seek;
      canvas.onpointermove = seek;
      return chart;
    });
    parent.replaceChildren(...this.charts.map((chart) => chart.canvas));
    this.draw();
  }

  // Drawn with the next picture of the browser, once for all that happened before.
  draw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      if (document.getElementById("panel").checkVisibility?.() === false || document.body.classList.contains("panel-closed")) return;
      const place = this.columns.findIndex((column) => column.name === "time");
      const times = place < 0 ? [] : this.rows.map((row) => row[place]);
      for (const chart of this.charts) this.drawChart(chart, times);
    });
  }

  drawChart(chart, times) {
    const { canvas, lines, unit } = chart, width = canvas.clientWidth || 260, ratio = Math.min(window.devicePixelRatio || 1, 3);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(CHART_HEIGHT * ratio);
    const context = canvas.getContext("2d"), style = getComputedStyle(document.body);
    const ink = style.getPropertyValue("--ink"), soft = style.getPropertyValue("--ink-soft"), hairline = style.getPropertyValue("--line");
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    let x = 0, y = 10;
    lines.forEach((line, k) => {
      const text = worded(line.name), needed = context.measureText(text).width + 22;
      if (x > 0 && x + needed > width) [x, y] = [0, y + 15];
      context.fillStyle = cssColor(bodyColor(k));
      context.fillRect(x, y - 4.500, 10, 3);
      context.fillStyle = ink;
      context.fillText(text, x + 14, y, width - 14);
      x += needed;
    });
    const top = y + 12, bottom = CHART_HEIGHT - 16, last = times.length - 1;
    const series = lines.map((line) => this.rows.map((row) => row[line.place]));
    let low = Infinity, high = -Infinity;
    for (const values of series) for (const value of values) if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
    if (!(low <= high) || last < 0) {
      context.fillStyle = soft;
      context.fillText("no numbers yet", 0, (top + bottom) / 2);
      chart.toTime = null;
      return;
    }
    if (low > 0 && low < 0.4 * high) low = 0;
    if (high < 0 && high > 0.4 * low) high = 0;
    if (high - low < 1e-9 * Math.max(Math.abs(low), Math.abs(high), 1e-300)) { const margin = Math.abs(high) * 0.1 || 1; low -= margin; high += margin; }
    const marks = ticks(low, high, 3), labels = marks.map((value, k) => (k === marks.length - 1 && unit ? `${shown(value, 3)} ${unitShown(unit)}` : shown(value, 3)));
    const left = Math.max(...labels.map((text) => context.measureText(text).width)) + 7, right = width - 3;
    const first = times[0], span = Math.max(times[last] - first, 1e-12);
    const toX = (time) => left + (time - first) / span * (right - left), toY = (value) => bottom - (value - low) / (high - low) * (bottom - top);
    chart.toTime = (at) => first + clamp((at - left) / (right - left), 0, 1) * span;
    context.textAlign = "right";
    context.textBaseline = "middle";
    marks.forEach((value, k) => {
      context.fillStyle = hairline;
      context.fillRect(left, Math.round(toY(value)), right - left, 1);
      context.fillStyle = soft;
      context.fillText(labels[k], left - 5, toY(value));
    });
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillStyle = soft;
    context.fillText(shown(first, 3), left, CHART_HEIGHT - 3);
    context.textAlign = "right";
    context.fillText(`${shown(times[last], 3)} s`, right, CHART_HEIGHT - 3);
    context.textAlign = "left";
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    series.forEach((values, k) => {
      context.strokeStyle = cssColor(bodyColor(k));
      context.beginPath();
      let isDown = false;
      values.forEach((value, row) => {
        if (value === null) { isDown = false; return; }
        if (isDown) context.lineTo(toX(times[row]), toY(value));
        else context.moveTo(toX(times[row]), toY(value));
        isDown = true;
      });
      context.stroke();
    });
    if (this.time >= first && this.time <= times[last] + 1e-9) {
      context.fillStyle = ink;
      context.globalAlpha = 0.5;
      context.fillRect(toX(this.time) - 0.5, top, 1, bottom - top);
      context.globalAlpha = 1;
    }
  }
}
