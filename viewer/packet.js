// One moment as it comes over the line or out of a file: a header and typed arrays laid over the bytes, nothing copied.

const KINDS = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array };

class Moment {
  // `buffer` is an ArrayBuffer with the whole packet; `shared` gives arrays that stand aside, by number.
  constructor(buffer, shared = null) {
    const head = new DataView(buffer);
    if (buffer.byteLength < 8 || head.getUint32(0, false) !== 0x50485846) throw new Error("This is no packet of phyxel.");
    const size = head.getUint32(4, true);
    this.header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
    this.buffer = buffer;
    this.base = 8 + size;
    this.shared = shared;
    this.arrays = this.header.arrays.map((entry) => this.array(entry));
  }

  array(entry) {
    const Kind = KINDS[entry.type];
    const n = entry.length * entry.components;
    const values = entry.shared === undefined ? new Kind(this.buffer, this.base + entry.offset, n) : this.shared(entry.shared);
    return { ...entry, values };
  }

  get frame() { return this.header.frame; }
  get time() { return this.header.time; }
  get nParticles() { return this.header.particles; }
  get bytes() { return this.buffer.byteLength; }
  // All arrays of the packet, for one upload; offsets of entries count from its start.
  get data() { return new Uint8Array(this.buffer, this.base); }

  find(name, column = undefined) {
    return this.arrays.find((array) => array.name === name && (column === undefined || array.column === column));
  }

  // The numbers of one row.
  row(array, row) {
    const n = array.components, max = array.type === "u16" ? 65535 : 255;
    const raw = Array.from(array.values.subarray(row * n, (row + 1) * n));
    return array.low ? raw.map((x, k) => array.low[k] + (array.high[k] - array.low[k]) * x / max) : raw;
  }

  position(row) {
    return row < this.nParticles ? this.row(this.find("position"), row) : null;
  }

  get surfaces() {
    this.surfaceList ??= (this.header.surfaces || []).map((surface) => {
      const arrays = surface.arrays.map((entry) => this.array(entry));
      const find = (name) => arrays.find((array) => array.name === name);
      return { body: surface.body, position: find("position"), normal: find("normal"), index: find("index") };
    });
    return this.surfaceList;
  }
}
