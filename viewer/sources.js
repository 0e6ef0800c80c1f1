// Where moments come from: a server, or the page itself. Both have
//   info: what the result is;  packet(index, columns): a promise of a Moment;  particle(frame, row): a promise of its numbers.

const MAX_PENDING = 6;

// A result inside this file, as `phyxel export --format html` writes it.
class EmbeddedSource {
  static find() {
    const element = document.getElementById("phyxel-info");
    return element ? new EmbeddedSource(JSON.parse(element.textContent)) : null;
  }

  constructor(info) {
    this.info = info;
    this.hasAllColumns = true;
    this.sharedArrays = new Map();
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot unpack the data of this page. A current Firefox, Chrome, Edge or Safari (16.4 or later) can.");
    }
  }

  async unpack(id) {
    const element = document.getElementById(id);
    if (!element) throw new Error("This file is not whole: a part of its data is missing. Copy or export it again.");
    const packed = await fetch(`data:application/octet-stream;base64,${element.textContent}`);
    return new Response(packed.body.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  }

  async packet(index) {
    const buffer = await this.unpack(`phyxel-frame-${index}`);
    const wanted = new Set();
    new Moment(buffer, (number) => { wanted.add(number); return null; }).surfaces.forEach(() => {});
    for (const number of wanted) {
      if (!this.sharedArrays.has(number)) {
        this.sharedArrays.set(number, this.unpack(`phyxel-shared-${number}`).then((bytes) => new Uint32Array(bytes)));
      }
    }
    const ready = new Map();
    for (const number of wanted) ready.set(number, await this.sharedArrays.get(number));
    return new Moment(buffer, (number) => ready.get(number));
  }

  async particle(frame, row, moment) {
    const value = (name, unit, array) => ({ name, unit, value: moment.row(array, row) });
    const unit = (name) => this.info.columns.find((column) => column.name === name)?.unit ?? "";
    const columns = moment.arrays.filter((array) => array.name === "column");
    const body = moment.find("body").values[row];
    return {
      frame, row,
      id: moment.find("id").values[row],
      body: this.info.bodies[body]?.name,
      values: [
        value("position", "m", moment.find("position")), value("radius", "m", moment.find("radius")),
        ...columns.map((array) => value(array.column, unit(array.column), array)),
      ],
    };
  }
}

// A server at the other end of a WebSocket. Loses its connection and finds it again.
class WebSocketSource {
  constructor(address, handlers) {
    this.address = address;
    this.handlers = handlers;
    this.info = null;
    this.hasAllColumns = false;
    this.packets = [];
    this.questions = [];
    this.nFailures = 0;
    this.connect();
  }

  connect() {
    let socket;
    try {
      socket = new WebSocket(this.address);
    } catch {
      this.handlers.lost(false);
      return;
    }
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = () => {
      this.forget("The connection was lost.");
      this.nFailures += 1;
      this.handlers.lost(this.info !== null);
      setTimeout(() => this.connect(), Math.min(500 * 1.6 ** Math.min(this.nFailures, 6), 5000));
    };
  }

  close() {
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close();
  }

  forget(reason) {
    const waiting = [...this.packets, ...this.questions];
    this.packets = [];
    this.questions = [];
    for (const { reject } of waiting) reject(new Error(reason));
  }

  receive(data) {
    if (typeof data !== "string") {
      const asked = this.packets.shift();
      try {
        asked?.resolve(new Moment(data));
      } catch (error) {
        asked.reject(error);
      }
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "info") {
      this.info = message;
      this.nFailures = 0;
      this.handlers.info(message);
    } else if (message.type === "particle") {
      this.questions.shift()?.resolve(message);
    } else if (message.type === "error") {
      // an answer to the oldest question of its kind, if it says to which
      if (message.to === "frame" || message.to === "next") this.packets.shift()?.reject(new Error(message.message));
      else if (message.to === "particle") this.questions.shift()?.reject(new Error(message.message));
      this.handlers.error(message.message);
    } else {
      this.handlers.message(message);
    }
  }

  get isOpen() { return this.socket?.readyState === WebSocket.OPEN; }

  send(message) {
    if (this.isOpen) this.socket.send(JSON.stringify(message));
  }

  ask(list, message) {
    if (!this.isOpen) return Promise.reject(new Error("There is no connection."));
    return new Promise((resolve, reject) => {
      list.push({ resolve, reject });
      this.send(message);
    });
  }

  packet(index, columns) { return this.ask(this.packets, { type: "frame", index, columns }); }
  next(columns) { return this.ask(this.packets, { type: "next", columns }); }
  particle(frame, row) { return this.ask(this.questions, { type: "particle", frame, row }); }
}

// Moments in memory, around the place that is played; as many as fit.
class Window {
  constructor(source, maxBytes) {
    this.source = source;
    this.maxBytes = maxBytes;
    this.moments = new Map();
    this.pending = new Set();
    this.bytes = 0;
    this.columns = [];
    this.generation = 0;
    this.failures = new Map();
    this.onArrival = () => {};
    this.onFailure = () => {};
  }

  // Other columns: what is there lacks them.
  want(columns) {
    if (columns.join() === this.columns.join()) return;
    this.columns = columns;
    if (!this.source.hasAllColumns) this.clear();
  }

  clear() {
    this.generation += 1;
    this.moments.clear();
    this.pending.clear();
    this.failures.clear();
    this.bytes = 0;
  }

  get(index) { return this.moments.get(index); }

  // Asks for the place itself first, then for what comes after it; `direction` is that of playing.
  fetchAround(index, nFrames, loops, direction = 1) {
    const capacity = this.bytes > 0 ? Math.max(3, Math.floor(this.maxBytes / (this.bytes / this.moments.size))) : MAX_PENDING;
    const ahead = Math.min(nFrames, Math.max(1, Math.floor(capacity * 0.8)));
    for (let k = 0; k < ahead && this.pending.size < MAX_PENDING; k++) {
      let place = index + direction * k;
      if (place < 0 || place >= nFrames) {
        if (!loops) break;
        place = ((place % nFrames) + nFrames) % nFrames;
      }
      if (!this.moments.has(place) && !this.pending.has(place) && (this.failures.get(place) ?? 0) < 2) this.fetch(place, index, nFrames);
    }
  }

  async fetch(place, around, nFrames) {
    const generation = this.generation;
    this.pending.add(place);
    try {
      const moment = await this.source.packet(place, this.columns);
      if (generation !== this.generation) return;
      this.moments.set(place, moment);
      this.bytes += moment.bytes;
      this.makeRoom(around, nFrames);
      this.pending.delete(place);
      this.onArrival(place);
    } catch (error) {
      if (generation !== this.generation) return;
      this.pending.delete(place);
      this.failures.set(place, (this.failures.get(place) ?? 0) + 1);
      this.onFailure(error, place);
    }
  }

  // Drops what is played last: behind the place, going round.
  makeRoom(around, nFrames) {
    while (this.bytes > this.maxBytes && this.moments.size > 2) {
      let worst = -1, farthest = -1;
      for (const place of this.moments.keys()) {
        const ahead = (((place - around) % nFrames) + nFrames) % nFrames;
        if (ahead > farthest) [farthest, worst] = [ahead, place];
      }
      this.bytes -= this.moments.get(worst).bytes;
      this.moments.delete(worst);
    }
  }
}
