// The page as a whole: a source, a player, a picture.

const MEMORY = ((navigator.deviceMemory || 4) >= 4 ? 640 : 256) * 2 ** 20;
const NARROW = 640;
const REST = 160;   // after so long without a change, pictures become smooth [ms]

class App {
  constructor() {
    this.messages = new Messages();
    this.coloring = new Coloring();
    this.camera = new Camera();
    this.canvas = byId("view");
    // the connection is made while programs are compiled; nothing arrives before this is done
    this.source = this.open();
    try {
      this.renderer = new Renderer(this.canvas);
    } catch (error) {
      this.source.close?.();
      throw error;
    }
    this.renderer.coloring = this.coloring;
    this.ledger = new Ledger((time) => this.player.goToTime(time));
    this.player = new Player(this);
    this.panel = new Panel(this);
    this.hands = new Hands(this.canvas, this.camera, {
      changed: () => { this.renderer.invalidateView(); this.moveSpring(); this.wake(); },
      pick: (x, y) => this.choose(this.renderer.pick(this.camera, x, y)),
      grab: (x, y) => this.grab(x, y),
      drag: (x, y) => this.drag(x, y),
      drop: () => this.drop(),
    });
    this.chosen = -1;
    this.hasMoved = false;
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const setTheme = () => { this.renderer.setTheme(dark.matches); this.panel.showColoring(); this.ledger.draw(); this.wake(); };
    dark.addEventListener("change", setTheme);
    this.renderer.setTheme(dark.matches);
    new ResizeObserver(() => this.layOut()).observe(this.canvas);
    this.canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); this.messages.keep("context", "The graphics card was taken away from this page. Load it again."); });
    // keys are for the picture again once a button has been clicked
    document.addEventListener("click", (event) => { if (event.detail > 0) event.target.closest?.("button, summary")?.blur(); });
    if (window.innerWidth <= NARROW) this.panel.toggle(false);
    if (this.source instanceof EmbeddedSource) this.begin(this.source.info);
  }

  open() {
    const embedded = EmbeddedSource.find();
    if (embedded) return embedded;
    if (!location.protocol.startsWith("http")) throw new Error("There is no data in this file. `phyxel view` shows results, and `phyxel export --format html` writes files that can be opened like this.");
    const token = new URLSearchParams(location.search).get("token");
    const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws${token ? `?token=${encodeURIComponent(token)}` : ""}`;
    return new WebSocketSource(address, {
      info: (info) => { this.messages.end("lost"); this.begin(info); },
      message: (message) => this.receive(message),
      error: (text) => this.messages.say(text),
      lost: (wasOpen) => this.lost(wasOpen),
    });
  }

  lost(wasOpen) {
    const text = wasOpen ? "The connection is lost. Is phyxel still running? Trying again…" : "There is no answer from phyxel. Is it still running? Trying again…";
    if (this.info) this.messages.keep("lost", text);
    else byId("cover-text").textContent = text;
    if (this.player.isLive) this.player.setPlaying(false);
  }

  // A result, or the same one again after the connection was lost.
  begin(info) {
    const isFirst = !this.info;
    this.info = info;
    if (!isFirst) this.choose(-1);
    this.renderer.setInfo(info);
    if (!info.columns.some((column) => column.name === this.coloring.column)) this.coloring.choose(null, "", null);
    this.panel.setInfo(info);
    this.panel.showColoring();
    this.ledger.setInfo(info.ledger);
    for (const note of info.notes ?? []) this.messages.say(note, 10);
    this.generation = (this.generation ?? 0) + 1;
    if (info.mode === "live") {
      this.gravityOn = info.gravity?.some((x) => x !== 0) ? info.gravity : this.gravityOn ?? [0, -9.81, 0];
      byId("live-gravity").checked = info.gravity?.some((x) => x !== 0) ?? false;
      this.player.setFrames(0);
      this.listen(this.generation);
    } else {
      this.window = new Window(this.source, MEMORY);
      this.window.columns = this.wantedColumns();
      this.window.onArrival = (index) => this.player.arrived(index);
      this.window.onFailure = (error) => { if (this.source.isOpen !== false) this.messages.say(error.message); };
      this.player.setFrames(info.frames);
      this.player.go(Math.min(this.player.index, info.frames - 1));
    }
    if (isFirst) this.showEverything(false);
  }

  wantedColumns() { return this.coloring.column === null ? [] : [this.coloring.column]; }

  // Live: one question, one answer, as fast as they come.
  async listen(generation) {
    while (generation === this.generation) {
      try {
        const moment = await this.source.next(this.wantedColumns());
        if (generation !== this.generation) return;
        if (moment.header.ledger) this.noteLedger(moment);
        this.show(moment);
        this.wake();
      } catch {
        return;
      }
    }
  }

  noteLedger(moment) {
    const place = this.ledger.columns.findIndex((column) => column.name === "time"), row = moment.header.ledger;
    const last = () => this.ledger.rows.at(-1)?.[place] ?? -Infinity;
    if (row[place] < last()) this.ledger.clear();
    if (row[place] > last()) this.ledger.addRows([row]);
  }

  receive(message) {
    if (message.type === "frames") {
      this.info.frames = message.frames;
      this.ledger.addRows(message.ledger_rows ?? [], message.ledger_first ?? this.ledger.rows.length);
      this.player.setFrames(message.frames);
      this.player.fetch();
    } else if (message.type === "state") {
      this.lastState = message;
      this.liveSpeed = message.running ? message.speed : 0;
      this.player.setPlaying(message.running);
      if (message.gravity) byId("live-gravity").checked = message.gravity.some((x) => x !== 0);
      this.panel.acceptParameters(message.parameters);
      if (message.error) this.messages.keep("failure", message.error);
      else this.messages.end("failure");
      if (this.renderer.moment) this.player.showClock(this.renderer.moment);
    } else if (message.type === "scene") {
      download(new Blob([message.text], { type: "application/toml" }), message.name);
      this.messages.say(`${message.name} is in your downloads. "phyxel run ${message.name}" does it all again.`);
    }
  }

  send(message) { this.source.send?.(message); }

  // Many moves of a slider become few messages.
  setParameter(body, key, value) {
    this.waiting ??= new Map();
    const isFirst = this.waiting.size === 0;
    this.waiting.set(`${body}/${key}`, { type: "set", body, key, value });
    if (!isFirst) return;
    setTimeout(() => {
      for (const message of this.waiting.values()) this.send(message);
      this.waiting.clear();
    }, 60);
  }

  colorBy(column) {
    const known = this.info.columns.find((entry) => entry.name === column);
    this.coloring.choose(column, known?.unit ?? "", known?.range);
    byId("color-by").value = column ?? "";
    this.showWhatHasColumns(column !== null);
    if (this.window) {
      this.window.want(this.wantedColumns());
      this.player.fetch();
      const moment = this.window.get(this.player.index);
      if (moment) this.show(moment);
    } else if (this.player.isLive && this.renderer.moment) {
      // asked for beside the question that waits, which a run that is paused does not answer
      this.source.next(this.wantedColumns()).then((moment) => this.show(moment), () => {});
      this.show(this.renderer.moment);
    }
    this.coloringChanged();
    this.panel.showColoring();
  }

  // Surfaces have no columns: particles are shown while there is something to read from them.
  showWhatHasColumns(isNeeded) {
    const { options } = this.renderer;
    if (isNeeded && options.geometry === "surface") [options.geometry, this.hasSwitched] = ["particles", true];
    else if (!isNeeded && this.hasSwitched && options.geometry === "particles") options.geometry = "surface";
    if (!isNeeded) this.hasSwitched = false;
    this.panel.showGeometry();
    if (this.renderer.isReady) this.renderer.setBodies();
  }

  coloringChanged() {
    this.renderer.invalidate();
    this.wake();
  }

  // Brings a moment to the screen.
  show(moment) {
    const column = this.coloring.column, values = column ? moment.find("column", column) : undefined;
    this.renderer.setMoment(moment, values ? column : null);
    if (values && this.coloring.automatic && this.coloring.see(values.bulk ?? values.range)) this.panel.showColoring();
    byId("geometry").hidden = moment.surfaces.length === 0 || moment.nParticles === 0;
    this.player.showClock(moment);
    this.ledger.setTime(moment.time);
    if (this.chosen >= 0) this.follow(moment);
    this.moveSpring();
    byId("cover").classList.add("open");
    this.hasMoved = true;
    this.wake();
  }

  // The numbers of a particle, now and in the frames to come.
  choose(row) {
    this.chosen = row;
    this.renderer.chosen = row;
    this.renderer.invalidateView();
    this.nChosenAmong = this.renderer.moment?.nParticles;
    this.chosenId = null;
    if (row < 0) this.panel.showParticle(null);
    else this.follow(this.renderer.moment);
    this.wake();
  }

  async follow(moment) {
    // rows are in order of id: they stay as long as no particle is split or merged
    if (moment.nParticles !== this.nChosenAmong || this.chosen >= moment.nParticles) {
      this.choose(-1);
      return;
    }
    if (this.isAsking) { this.askAgain = true; return; }
    this.isAsking = true;
    const row = this.chosen;
    try {
      const answer = await this.source.particle(moment.frame, row, moment);
      if (row === this.chosen) {
        if (this.chosenId !== null && answer.id !== this.chosenId) this.choose(-1);
        else {
          const isNew = this.chosenId === null;
          this.chosenId = answer.id;
          this.panel.showParticle(answer);
          if (isNew && window.innerWidth > NARROW) byId("particle-section").scrollIntoView({ block: "nearest" });
          if (isNew && window.innerWidth <= NARROW) { this.panel.toggle(true); byId("particle-section").scrollIntoView({ block: "start" }); }
        }
      }
    } catch (error) {
      if (row === this.chosen) this.panel.showParticle(null);
    }
    this.isAsking = false;
    if (this.askAgain) { this.askAgain = false; if (this.chosen >= 0 && this.renderer.moment) this.follow(this.renderer.moment); }
  }

  // Live: takes hold of a particle with the pointer.
  grab(x, y) {
    if (!this.player.isLive || !byId("live-grab").checked) return false;
    const row = this.renderer.pick(this.camera, x, y);
    if (row < 0) return false;
    const moment = this.renderer.moment;
    this.held = { row, frame: moment.frame, point: moment.position(row), nParticles: moment.nParticles, isTold: false };
    return true;
  }

  drag(x, y) {
    const held = this.held, { clientWidth: width, clientHeight: height } = this.canvas;
    held.to = this.camera.inPlaneOf(held.point, x, y, width, height);
    held.at = [x, y];
    if (!held.isTold) {
      this.send({ type: "drag", row: held.row, frame: held.frame, to: held.to });
      held.isTold = true;
    } else if (!held.isWaiting) {
      held.isWaiting = true;
      setTimeout(() => { held.isWaiting = false; if (this.held === held) this.send({ type: "drag", to: held.to }); }, 30);
    }
    this.moveSpring();
  }

  drop() {
    if (this.held?.isTold) this.send({ type: "release" });
    this.held = null;
    this.moveSpring();
  }

  // The line from the held particle to the pointer.
  moveSpring() {
    const spring = byId("spring"), held = this.held;
    const point = held?.at && this.renderer.moment?.nParticles === held.nParticles ? this.renderer.moment.position(held.row) : null;
    const from = point && this.camera.onScreen(point, this.canvas.clientWidth, this.canvas.clientHeight);
    spring.style.visibility = from ? "visible" : "hidden";
    if (!from) return;
    const [line, circle] = [spring.querySelector("line"), spring.querySelector("circle")];
    Object.entries({ x1: from[0], y1: from[1], x2: held.at[0], y2: held.at[1] }).forEach(([name, value]) => line.setAttribute(name, value));
    circle.setAttribute("cx", held.at[0]);
    circle.setAttribute("cy", held.at[1]);
  }

  // What the panel leaves free of the view: the size as shares, and where its middle is.
  freeView() {
    const { clientWidth: width, clientHeight: height } = this.canvas, isOpen = !document.body.classList.contains("panel-closed");
    if (window.innerWidth <= NARROW) {
      const covered = isOpen ? byId("panel").offsetHeight / height : 70 / height;
      return { free: [0.96, 0.94 - covered - 60 / height], offset: [0, covered - 60 / height] };
    }
    const covered = isOpen ? (byId("panel").offsetWidth + 14) / width : 0;
    return { free: [0.94 - covered, 0.96 - 130 / height], offset: [-covered, 15 / height] };
  }

  // The panel was opened or closed, or the window has another size.
  layOut() {
    this.camera.offset = this.freeView().offset;
    this.renderer.invalidateView();
    this.ledger.draw();
    this.wake();
  }

  // The first camera, or back to it.
  showEverything(turnsBack) {
    if (turnsBack) this.camera.reset();
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.camera.frame(this.renderer.sceneBounds(), width / height, this.freeView().free);
    this.layOut();
  }

  saveScreenshot() {
    if (!this.renderer.isReady) return;
    this.renderer.finish(this.camera);
    const { canvas } = this, copy = document.createElement("canvas"), context = copy.getContext("2d");
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    context.drawImage(canvas, 0, 0);
    const ratio = canvas.width / canvas.clientWidth, style = getComputedStyle(document.body);
    const ink = style.getPropertyValue("--ink"), soft = style.getPropertyValue("--ink-soft");
    context.scale(ratio, ratio);
    context.font = "600 16px system-ui, sans-serif";
    context.fillStyle = ink;
    context.fillText(this.info.title || "", 20, 32);
    context.font = "13px system-ui, sans-serif";
    context.fillStyle = soft;
    context.fillText(`${this.renderer.moment.time.toFixed(3)} s`, 20, 52);
    if (this.coloring.column !== null) {
      context.translate(14, canvas.clientHeight - 254);
      drawColorBar(context, this.coloring, 148, 236, ink, soft);
    }
    const name = `${(this.info.title || "phyxel").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")}-${String(this.renderer.moment.frame).padStart(4, "0")}.png`;
    copy.toBlob((blob) => { if (blob) download(blob, name); }, "image/png");
  }

  // Pictures are drawn while something changes, and then until the last one is smooth.
  wake() {
    if (this.isAwake) return;
    this.isAwake = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const { renderer, player, hands } = this;
    player.tick(now);
    // back-pressure shows in how late the next picture may be drawn
    if (this.hasDrawn) renderer.noteInterval(now - this.last);
    else if (this.hasSmoothed) renderer.noteStillInterval(now - this.last);
    this.hasDrawn = renderer.isReady && (this.hasMoved || renderer.nSamples === 0);
    this.hasSmoothed = false;
    this.hasMoved = false;
    this.last = now;
    if (this.hasDrawn) {
      this.lastChange = now;
      renderer.draw(this.camera, true);
    } else if (now - this.lastChange > REST && renderer.isReady && !renderer.isFinished) {
      this.hasSmoothed = true;
      renderer.draw(this.camera, false);
    }
    if (player.isPlaying || hands.isBusy || (renderer.isReady && !renderer.isFinished)) requestAnimationFrame((next) => this.tick(next));
    else this.isAwake = this.hasDrawn = this.hasSmoothed = false;
  }
}

try {
  globalThis.phyxel = new App();
} catch (error) {
  byId("cover-text").textContent = error.message;
  console.error(error);
}
