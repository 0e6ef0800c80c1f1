// Where in the result we are, and how time goes on: frames of a replay, or news of a live run.

class Player {
  constructor(app) {
    this.app = app;
    this.index = 0;
    this.nFrames = 0;
    this.isPlaying = false;
    this.speed = 1;
    this.loops = true;
    this.clock = 0;
    this.bind();
  }

  get isLive() { return this.app.info?.mode === "live"; }

  bind() {
    byId("play").onclick = () => this.toggle();
    byId("first").onclick = () => this.go(0, true);
    byId("back").onclick = () => this.step(-1);
    byId("forward").onclick = () => this.step(1);
    byId("frame").oninput = (event) => this.go(Number(event.target.value), true);
    byId("speed").onchange = (event) => { this.speed = Number(event.target.value); };
    byId("loop").onclick = () => { this.loops = !this.loops; byId("loop").setAttribute("aria-pressed", this.loops); };
    window.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const element = event.target;
    if (element.matches?.("select, input:not([type=range]):not([type=checkbox])")) return;
    if (event.key === " " && element.matches?.("button, summary, input[type=checkbox]")) return;
    const isSlider = element.matches?.("input[type=range]") && element.id !== "frame";
    const steps = event.shiftKey ? 10 : 1;
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: isSlider ? null : () => this.step(-steps),
      ArrowRight: isSlider ? null : () => this.step(steps),
      Home: isSlider ? null : () => this.go(0, true),
      End: isSlider ? null : () => this.go(this.nFrames - 1, true),
      f: () => this.app.showEverything(true),
      s: () => this.app.saveScreenshot(),
      p: () => this.app.panel.toggle(),
      l: () => byId("loop").click(),
      Escape: () => this.app.choose(-1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  setFrames(nFrames) {
    this.nFrames = nFrames;
    byId("frame").max = Math.max(nFrames - 1, 0);
    document.body.classList.toggle("still", !this.isLive && nFrames < 2);
    this.showLoaded();
  }

  setPlaying(isPlaying) {
    this.isPlaying = isPlaying;
    document.body.classList.toggle("playing", isPlaying);
    byId("play").title = isPlaying ? "Pause (space)" : "Play (space)";
  }

  toggle() {
    if (this.isLive) {
      this.app.send({ type: this.isPlaying ? "pause" : "play" });
      return;
    }
    if (!this.isPlaying && !this.loops && this.index === this.nFrames - 1) this.go(0);
    this.setPlaying(!this.isPlaying);
    this.clock = performance.now();
    this.due = 0;
    this.app.wake();
  }

  step(n) {
    if (this.isLive) {
      if (n > 0) this.app.send({ type: "step" });
      return;
    }
    this.setPlaying(false);
    this.go(clamp(this.index + n, 0, this.nFrames - 1));
  }

  // To a frame; the one that is shown stays until it has come.
  go(index, stops = false) {
    if (this.isLive || this.nFrames === 0) return;
    if (stops) this.setPlaying(false);
    this.index = clamp(index, 0, this.nFrames - 1);
    byId("frame").value = this.index;
    this.fetch();
    const moment = this.app.window.get(this.index);
    if (moment) this.app.show(moment);
    this.app.wake();
  }

  goToTime(time) {
    if (this.isLive) return;
    const rows = this.app.ledger.rows, place = this.app.ledger.columns.findIndex((column) => column.name === "time");
    let best = 0;
    rows.forEach((row, k) => { if (Math.abs(row[place] - time) < Math.abs(rows[best][place] - time)) best = k; });
    this.go(best, true);
  }

  fetch() { this.app.window.fetchAround(this.index, this.nFrames, this.loops); }

  arrived(index) {
    // also the same frame with another column
    if (index === this.index) this.app.show(this.app.window.get(index));
    this.fetch();
    this.showLoaded();
    this.app.wake();
  }

  // Goes on with time; waits for frames that have not come.
  tick(now) {
    if (!this.isPlaying || this.isLive) return;
    const rate = (this.app.info.frame_rate || 30) * this.speed;
    this.due = (this.due ?? 0) + Math.min(now - this.clock, 250) / 1000 * rate;
    this.clock = now;
    let target = this.index;
    while (this.due >= 1) {
      let next = target + 1;
      if (next >= this.nFrames) {
        if (!this.loops) { this.setPlaying(false); break; }
        next = 0;
      }
      if (!this.app.window.get(next)) { this.due = Math.min(this.due, 1); break; }
      target = next;
      this.due -= 1;
    }
    if (target !== this.index) {
      this.index = target;
      byId("frame").value = target;
      this.app.show(this.app.window.get(target));
    }
    this.fetch();
  }

  showClock(moment) {
    const first = this.app.info.first_frame ?? 0, number = document.createElement("span"), time = document.createElement("b");
    time.textContent = `${moment.time.toFixed(3)} s`;
    number.className = "frame-number";
    if (this.isLive) number.textContent = this.app.liveSpeed ? ` · ${shown(this.app.liveSpeed, 2)}× real time` : "";
    else number.textContent = ` · ${counted(moment.frame + first)} / ${counted(this.nFrames - 1 + first)}`;
    byId("clock").replaceChildren(time, number);
  }

  // Which frames are in memory, under the slider.
  showLoaded() {
    if (this.nFrames < 2 || this.isLive) return;
    const runs = [];
    for (let k = 0; k < this.nFrames; k++) {
      if (!this.app.window.get(k)) continue;
      if (runs.length > 0 && runs[runs.length - 1][1] === k - 1) runs[runs.length - 1][1] = k;
      else runs.push([k, k]);
    }
    const share = (k) => `${100 * k / (this.nFrames - 1)}%`;
    byId("loaded").replaceChildren(...runs.map(([from, to]) => {
      const run = document.createElement("i");
      run.style.left = share(from);
      run.style.width = share(to - from);
      return run;
    }));
  }
}
