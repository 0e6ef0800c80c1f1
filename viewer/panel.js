// The controls: what the user sets, and what is shown of the result in words and numbers.

const HINT = window.matchMedia("(pointer: coarse)").matches
  ? "One finger turns, two move and zoom; tap a particle for its numbers."
  : "Drag to turn, right button to move, wheel to zoom; click a particle for its numbers.";

const byId = (id) => document.getElementById(id);

// A sentence for some seconds, or until it is taken away.
class Messages {
  constructor() { this.lasting = new Map(); }

  say(text, seconds = 6) {
    const known = [...byId("messages").children].find((element) => element.textContent === text);
    if (known) return;
    const element = document.createElement("div");
    element.textContent = text;
    byId("messages").append(element);
    setTimeout(() => element.remove(), seconds * 1000);
  }

  keep(key, text) {
    this.end(key);
    const element = document.createElement("div");
    element.className = "lasting";
    element.textContent = text;
    byId("messages").append(element);
    this.lasting.set(key, element);
  }

  end(key) {
    this.lasting.get(key)?.remove();
    this.lasting.delete(key);
  }
}

// Everything at the right side.
class Panel {
  constructor(app) {
    this.app = app;
    this.bindView();
    this.bindColor();
    this.bindLive();
    byId("particle-close").onclick = () => app.choose(-1);
  }

  bindView() {
    const { app } = this, { renderer } = app;
    byId("panel-toggle").onclick = () => this.toggle();
    byId("fit").onclick = () => app.showEverything(true);
    byId("screenshot").onclick = () => app.saveScreenshot();
    byId("size").oninput = (event) => { renderer.options.size = Number(event.target.value); renderer.invalidate(); app.wake(); };
    byId("show-obstacles").onchange = (event) => { renderer.options.showObstacles = event.target.checked; renderer.invalidate(); app.wake(); };
    byId("show-grid").onchange = (event) => { renderer.options.showGround = event.target.checked; renderer.invalidate(); app.wake(); };
    for (const button of byId("geometry").children) {
      button.onclick = () => { renderer.options.geometry = button.dataset.value; this.showGeometry(); renderer.setBodies(); app.wake(); };
    }
  }

  toggle(isOpen = document.body.classList.contains("panel-closed")) {
    document.body.classList.toggle("panel-closed", !isOpen);
    byId("panel-toggle").setAttribute("aria-expanded", isOpen);
    this.app.layOut();
  }

  bindColor() {
    const { app } = this, { coloring } = app;
    byId("color-by").onchange = (event) => app.colorBy(event.target.value || null);
    const changed = () => { app.coloringChanged(); this.showColoring(); };
    byId("color-auto").onclick = () => {
      coloring.fixed = coloring.range;
      coloring.automatic = !coloring.automatic;
      changed();
    };
    byId("color-log").onclick = () => { coloring.log = !coloring.log; changed(); };
    const ends = [byId("color-low"), byId("color-high")];
    ends.forEach((input) => { input.onchange = () => {
      const values = ends.map((end) => Number(end.value.replace(/−/g, "-").replace(",", ".")));
      const isRight = values.every(Number.isFinite) && values[0] < values[1] && ends.every((end) => end.value.trim());
      ends.forEach((end) => end.classList.toggle("wrong", !isRight));
      if (!isRight) {
        app.messages.say("The range needs two numbers, the first one smaller.");
        return;
      }
      coloring.automatic = false;
      coloring.fixed = values;
      changed();
    }; });
  }

  bindLive() {
    const { app } = this;
    byId("live-reset").onclick = () => app.send({ type: "reset" });
    byId("live-save").onclick = () => app.send({ type: "save" });
    byId("live-gravity").onchange = (event) => app.send({ type: "gravity", value: event.target.checked ? app.gravityOn : [0, 0, 0] });
  }

  setInfo(info) {
    byId("title").textContent = info.title || "phyxel";
    document.title = info.title ? `${info.title} – phyxel` : "phyxel";
    const methods = [...new Set(info.bodies.map((body) => body.method))].join(", ");
    const n = info.bodies.reduce((sum, body) => sum + (body.particles || 0), 0);
    byId("subtitle").textContent = [info.mode === "live" ? "live" : null, methods, `${counted(n)} particles`].filter(Boolean).join(" · ");
    byId("about").replaceChildren(...[`phyxel ${info.version ?? ""}`, HINT].map((text) => {
      const line = document.createElement("div");
      line.textContent = text;
      return line;
    }));
    this.listColumns(info);
    this.listBodies(info);
    byId("obstacles-row").hidden = !info.obstacles.some((obstacle) => obstacle.kind === "mesh" || obstacle.kind === "plane");
    byId("show-grid").parentElement.hidden = !info.obstacles.some((obstacle) => obstacle.kind === "ground");
    byId("live-section").hidden = info.mode !== "live";
    document.body.classList.toggle("live", info.mode === "live");
    this.showGeometry();
    if (info.mode === "live") this.listParameters(info);
  }

  listColumns(info) {
    const option = (value, text) => { const element = document.createElement("option"); element.value = value; element.textContent = text; return element; };
    const chosen = this.app.coloring.column;
    byId("color-by").replaceChildren(option("", "Body"), ...info.columns.map((column) => option(column.name, `${worded(column.name)}${unitShown(column.unit) ? ` (${unitShown(column.unit)})` : ""}`)));
    byId("color-by").value = info.columns.some((column) => column.name === chosen) ? chosen : "";
  }

  listBodies(info) {
    const { renderer } = this.app;
    byId("bodies").replaceChildren(...info.bodies.map((body, k) => {
      const item = document.createElement("li"), button = document.createElement("button"), dot = document.createElement("i");
      const name = document.createElement("span"), count = document.createElement("small");
      dot.style.setProperty("--swatch", cssColor(bodyColor(k)));
      name.textContent = body.name;
      button.title = `${body.name}: ${body.material}, ${body.method}. Click to hide or show, double-click to show only this one.`;
      count.textContent = counted(body.particles ?? 0);
      const show = () => button.setAttribute("aria-pressed", renderer.options.visible[k]);
      button.onclick = () => { renderer.options.visible[k] = !renderer.options.visible[k]; renderer.setBodies(); show(); this.app.wake(); };
      button.ondblclick = () => { renderer.options.visible = info.bodies.map((_, other) => other === k); renderer.setBodies(); this.listBodies(info); this.app.wake(); };
      show();
      button.append(dot, name, count);
      item.append(button);
      return item;
    }));
  }

  showGeometry() {
    for (const button of byId("geometry").children) button.setAttribute("aria-checked", button.dataset.value === this.app.renderer.options.geometry);
  }

  // Range and legend.
  showColoring() {
    const { coloring } = this.app, has = coloring.column !== null;
    byId("color-options").hidden = !has;
    byId("colorbar").hidden = !has;
    byId("color-auto").setAttribute("aria-pressed", coloring.automatic);
    byId("color-log").setAttribute("aria-pressed", coloring.log);
    if (!has) return;
    const ends = [byId("color-low"), byId("color-high")];
    coloring.range.forEach((value, k) => { if (document.activeElement !== ends[k]) ends[k].value = shown(value, 4); ends[k].classList.remove("wrong"); });
    const canvas = byId("colorbar"), ratio = Math.min(window.devicePixelRatio || 1, 3), style = getComputedStyle(document.body);
    const [width, height] = [148, 236];
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    drawColorBar(context, coloring, width, height, style.getPropertyValue("--ink"), style.getPropertyValue("--ink-soft"));
  }

  showParticle(answer) {
    byId("particle-section").hidden = !answer;
    if (!answer) return;
    byId("particle-id").textContent = `${counted(answer.id)} of ${answer.body ?? "?"}`;
    byId("particle-values").replaceChildren(...answer.values.flatMap(({ name, unit, value }) => {
      const term = document.createElement("dt"), numbers = document.createElement("dd"), small = document.createElement("small");
      term.textContent = worded(name);
      small.textContent = ` ${unitShown(unit)}`;
      numbers.append(value.map((x) => shown(x, value.length > 1 ? 3 : 4)).join(", "), small);
      return [term, numbers];
    }));
  }

  // Sliders of a live run.
  listParameters(info) {
    this.sliders = new Map();
    const parts = [];
    let body = null;
    for (const parameter of info.parameters ?? []) {
      if (parameter.body !== body && info.bodies.length > 1) {
        const heading = document.createElement("div"), dot = document.createElement("i");
        heading.className = "parameter-body";
        dot.style.setProperty("--swatch", cssColor(bodyColor(info.bodies.findIndex((known) => known.name === parameter.body))));
        heading.append(dot, parameter.body);
        parts.push(heading);
      }
      body = parameter.body;
      parts.push(parameter.scale === "switch" ? this.switch(parameter) : this.slider(parameter));
    }
    byId("parameters").replaceChildren(...parts);
  }

  switch(parameter) {
    const row = document.createElement("label"), input = document.createElement("input"), name = document.createElement("span");
    row.className = "switch";
    input.type = "checkbox";
    name.textContent = parameter.label ?? worded(parameter.key);
    const accept = (value) => { input.checked = value > 0; };
    input.onchange = () => this.app.setParameter(parameter.body, parameter.key, input.checked ? 1 : 0);
    accept(parameter.value);
    this.sliders.set(`${parameter.body}/${parameter.key}`, accept);
    row.append(input, name);
    return row;
  }

  slider(parameter) {
    const row = document.createElement("label"), head = document.createElement("div"), name = document.createElement("span");
    const output = document.createElement("output"), input = document.createElement("input");
    row.className = "parameter";
    name.textContent = parameter.label ?? worded(parameter.key);
    const isLog = parameter.scale === "log" && parameter.low > 0;
    Object.assign(input, { type: "range", min: 0, max: 1000, step: 1 });
    input.dataset.key = `${parameter.body}/${parameter.key}`;
    const valueOf = (share) => (isLog ? parameter.low * (parameter.high / parameter.low) ** share : mix(parameter.low, parameter.high, share));
    const shareOf = (value) => clamp(isLog ? Math.log(value / parameter.low) / Math.log(parameter.high / parameter.low) : (value - parameter.low) / (parameter.high - parameter.low), 0, 1);
    const show = (value) => { output.textContent = value === null ? "varies" : quantity(value, parameter.unit); };
    const accept = (value) => {
      if (document.activeElement === input && input.matches(":active")) return;
      input.value = Math.round(1000 * shareOf(value ?? Math.sqrt(parameter.low * parameter.high)));
      show(value);
    };
    input.oninput = () => {
      const value = Number(valueOf(input.value / 1000).toPrecision(4));
      show(value);
      this.app.setParameter(parameter.body, parameter.key, value);
    };
    accept(parameter.value);
    this.sliders.set(`${parameter.body}/${parameter.key}`, accept);
    head.append(name, output);
    row.append(head, input);
    return row;
  }

  acceptParameters(parameters) {
    for (const { body, key, value } of parameters ?? []) this.sliders?.get(`${body}/${key}`)?.(value);
  }
}

// Offers something for download.
function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
