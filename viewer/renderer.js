// Draws a moment: one call per set, everything about particles on the graphics card.

const N_SAMPLES = 24;            // pictures on top of each other when nothing moves
const N_SLOW_SAMPLES = 8;        // the same where each takes long
const SHADOW_TEXELS = 2048;
const MAX_PIXEL_RATIO = 2;
const PICK_PIXELS = 9;
const SLOW = 55, FAST = 14;      // [ms] between pictures

const THEMES = {
  light: {
    key: [0.86, 0.79, 0.70], fill: [0.13, 0.15, 0.18], sky: [0.40, 0.44, 0.50], bounce: [0.30, 0.285, 0.27],
    top: [0.60, 0.66, 0.73], horizon: [0.76, 0.79, 0.83], bottom: [0.70, 0.73, 0.77],
    ground: "#dfe2e6", line: "#bfc4cb", obstacle: "#b9bbbf",
  },
  dark: {
    key: [0.84, 0.78, 0.70], fill: [0.09, 0.11, 0.15], sky: [0.27, 0.31, 0.38], bounce: [0.12, 0.115, 0.11],
    top: [0.010, 0.013, 0.018], horizon: [0.030, 0.036, 0.045], bottom: [0.022, 0.027, 0.034],
    ground: "#2c3138", line: "#4a525c", obstacle: "#7d8289",
  },
};

const hexColor = (hex) => bytesOf(hex).map((byte) => byte / 255);

class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, depth: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("This page needs WebGL2, which this browser does not offer. A current browser does; in some, hardware acceleration must be switched on in the settings.");
    this.gl = gl;
    this.hasFloats = !!gl.getExtension("EXT_color_buffer_float") || !!gl.getExtension("EXT_color_buffer_half_float");
    this.programs = {
      sphere: new Program(gl, SPHERE_VERTEX, SPHERE_FRAGMENT),
      mesh: new Program(gl, MESH_VERTEX, MESH_FRAGMENT),
      plane: new Program(gl, PLANE_VERTEX, PLANE_FRAGMENT),
      occlusion: new Program(gl, SCREEN_VERTEX, OCCLUSION_FRAGMENT),
      light: new Program(gl, SCREEN_VERTEX, LIGHT_FRAGMENT),
      present: new Program(gl, SCREEN_VERTEX, PRESENT_FRAGMENT),
      sphereShadow: new Program(gl, SPHERE_SHADOW_VERTEX, SPHERE_SHADOW_FRAGMENT),
      meshShadow: new Program(gl, MESH_VERTEX, MESH_SHADOW_FRAGMENT),
      pick: new Program(gl, SPHERE_VERTEX, SPHERE_PICK),
    };
    this.maps = new Map([SEQUENTIAL, DIVERGING].map((stops) => [stops, makeTexture(gl, gl.RGBA8, MAP_SIZE, 1, gl.LINEAR, mapPixels(stops))]));
    this.shadow = new Target(gl, SHADOW_TEXELS, SHADOW_TEXELS, [], gl.DEPTH_COMPONENT24);
    this.pickTarget = new Target(gl, PICK_PIXELS, PICK_PIXELS, [gl.RGBA8], gl.DEPTH_COMPONENT24);
    this.data = gl.createBuffer();
    this.particleArrays = gl.createVertexArray();
    this.empty = gl.createVertexArray();
    this.surfaceSlots = new Map();
    this.obstacles = [];
    this.moment = null;
    this.column = null;
    this.options = { size: 1, geometry: "surface", visible: [], showObstacles: true, showGround: true };
    this.chosen = -1;
    // where there is no graphics card, moving pictures begin coarse
    const card = gl.getExtension("WEBGL_debug_renderer_info"), name = card ? gl.getParameter(card.UNMASKED_RENDERER_WEBGL) : "";
    this.motionScale = /swiftshader|llvmpipe|software/i.test(name) ? 0.5 : 1;
    this.scale = 1;
    this.theme = THEMES.light;
    this.nSamples = 0;
    this.shadowIsOld = true;
  }

  setTheme(isDark) {
    this.theme = isDark ? THEMES.dark : THEMES.light;
    this.invalidate();
  }

  // What stays the same: bodies, obstacles, the size of things.
  setInfo(info) {
    const gl = this.gl;
    this.info = info;
    this.options.visible = info.bodies.map((_, k) => this.options.visible[k] ?? true);
    for (const obstacle of this.obstacles) if (obstacle.buffer) gl.deleteBuffer(obstacle.buffer);
    this.obstacles = info.obstacles.map((obstacle) => this.makeObstacle(obstacle));
    this.box = info.bounds.map((corner) => [...corner]);
    const size = () => length(subtract(this.box[1], this.box[0]));
    const own = size() || 1;
    for (const { bounds } of this.obstacles) {
      if (bounds && length(subtract(bounds[1], bounds[0])) < 2 * own) this.include(bounds);
    }
    const ground = this.obstacles.find((obstacle) => obstacle.kind === "ground");
    if (ground && ground.height < this.box[0][1] && this.box[0][1] - ground.height < 4 * own) this.box[0][1] = ground.height;
    this.extent = size() || 1;
    this.middle = scaled(add(this.box[0], this.box[1]), 0.5);
    const rough = this.extent / 7, power = 10 ** Math.floor(Math.log10(rough)), share = rough / power;
    this.spacing = power * (share < 2 ? 1 : share < 5 ? 2 : 5);
    this.invalidate();
  }

  include(bounds) {
    for (let axis = 0; axis < 3; axis++) {
      this.box[0][axis] = Math.min(this.box[0][axis], bounds[0][axis]);
      this.box[1][axis] = Math.max(this.box[1][axis], bounds[1][axis]);
    }
  }

  makeObstacle(obstacle) {
    if (obstacle.kind !== "mesh") return { ...obstacle };
    const gl = this.gl, { vertices, triangles } = obstacle;
    const bounds = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    for (let k = 0; k < vertices.length; k++) {
      bounds[0][k % 3] = Math.min(bounds[0][k % 3], vertices[k]);
      bounds[1][k % 3] = Math.max(bounds[1][k % 3], vertices[k]);
    }
    const { positions, normals, nCorners } = shadedMesh(vertices, triangles);
    const buffer = gl.createBuffer(), arrays = gl.createVertexArray();
    gl.bindVertexArray(arrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, positions.byteLength + normals.byteLength, gl.STATIC_DRAW);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, positions);
    gl.bufferSubData(gl.ARRAY_BUFFER, positions.byteLength, normals);
    bindArray(gl, "position", { type: "f32", components: 3, offset: 0 }, 0);
    bindArray(gl, "normal", { type: "f32", components: 3, offset: positions.byteLength }, 0);
    gl.bindVertexArray(null);
    // what holds the bodies must not hide them
    const middle = scaled(add(this.info.bounds[0], this.info.bounds[1]), 0.5);
    const holds = [0, 1, 2].every((axis) => axis === 1 || (bounds[0][axis] <= middle[axis] && middle[axis] <= bounds[1][axis]))
      && bounds[1][1] > this.info.bounds[0][1] && !obstacle.inside;
    const wide = [0, 2].every((axis) => bounds[1][axis] - bounds[0][axis] > 0.8 * (this.info.bounds[1][axis] - this.info.bounds[0][axis]));
    const tall = bounds[1][1] - bounds[0][1] > 0.35 * Math.max(bounds[1][0] - bounds[0][0], bounds[1][2] - bounds[0][2]);
    return { name: obstacle.name, kind: "mesh", inside: obstacle.inside, bounds, buffer, arrays, nCorners, cover: holds && wide && tall ? 0.3 : 1 };
  }

  // Takes a moment to the graphics card; `column` is the one to colour by, or null.
  setMoment(moment, column) {
    const gl = this.gl;
    this.moment = moment;
    this.column = column;
    gl.bindVertexArray(this.particleArrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.data);
    gl.bufferData(gl.ARRAY_BUFFER, moment.data, gl.STREAM_DRAW);
    const array = (name, wanted) => moment.find(name, wanted);
    this.particles = { position: array("position"), radius: array("radius"), body: array("body"), value: column ? array("column", column) : undefined };
    for (const [name, entry] of Object.entries(this.particles)) bindArray(gl, name, entry, 1);
    const used = new Set();
    for (const surface of moment.surfaces) {
      used.add(surface.body);
      this.setSurface(surface);
    }
    for (const [body, slot] of this.surfaceSlots) slot.isShown = used.has(body);
    gl.bindVertexArray(null);
    this.setBodies();
    this.invalidate();
  }

  setSurface(surface) {
    const gl = this.gl;
    let slot = this.surfaceSlots.get(surface.body);
    if (!slot) {
      slot = { arrays: gl.createVertexArray(), index: gl.createBuffer(), values: null };
      this.surfaceSlots.set(surface.body, slot);
    }
    gl.bindVertexArray(slot.arrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.data);
    bindArray(gl, "position", surface.position, 0);
    bindArray(gl, "normal", surface.normal, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, slot.index);
    if (slot.values !== surface.index.values) {
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, surface.index.values, gl.STREAM_DRAW);
      slot.values = surface.index.values;
    }
    slot.nCorners = surface.index.values.length;
    const position = span(surface.position), normal = span(surface.normal);
    slot.uniforms = { positionLow: position.low, positionSpan: position.span, normalLow: normal.low, normalSpan: normal.span };
  }

  hasSurface(body) { return !!this.surfaceSlots.get(body)?.isShown; }

  // Colours of the bodies, with what is seen of their particles.
  setBodies() {
    const gl = this.gl, n = this.info.bodies.length, rows = Math.max(1, Math.ceil(n / 256));
    const pixels = new Uint8Array(4 * 256 * rows), { visible, geometry } = this.options;
    for (let k = 0; k < n; k++) {
      // particles under a surface are not drawn, but found by clicks
      const seen = !visible[k] ? 0 : geometry === "surface" && this.hasSurface(k) ? 128 : 255;
      pixels.set([...bodyColor(k), seen], 4 * k);
    }
    if (this.bodies) gl.deleteTexture(this.bodies);
    this.bodies = makeTexture(gl, gl.RGBA8, 256, rows, gl.NEAREST, pixels);
    this.invalidate();
  }

  // Something is to be seen differently.
  invalidate() {
    this.nSamples = 0;
    this.shadowIsOld = true;
  }

  // The eye has moved, and nothing else.
  invalidateView() { this.nSamples = 0; }

  get isFinished() { return this.nSamples >= (this.hasFloats ? (this.isSlow ? N_SLOW_SAMPLES : N_SAMPLES) : 1); }

  resize(isMoving) {
    const ratio = Math.min(window.devicePixelRatio || 1, MAX_PIXEL_RATIO);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio)), height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    this.scale = isMoving ? this.motionScale : 1;
    const [w, h] = [width, height].map((n) => Math.max(1, Math.round(n * this.scale)));
    if (this.buffer?.width === w && this.buffer?.height === h) return;
    const gl = this.gl;
    for (const target of [this.buffer, this.open, this.picture]) target?.release();
    this.buffer = new Target(gl, w, h, [gl.RGBA8, gl.RGBA8], gl.DEPTH_COMPONENT24);
    this.open = new Target(gl, Math.ceil(w / 2), Math.ceil(h / 2), [gl.RGBA8]);
    this.picture = new Target(gl, w, h, [this.hasFloats ? gl.RGBA16F : gl.RGBA8], null, gl.LINEAR);
    this.nSamples = 0;
  }

  // Adapts the sharpness of moving pictures to how fast they come.
  noteInterval(milliseconds) {
    this.slowness = mix(this.slowness ?? 30, Math.min(milliseconds, 400), 0.2);
    if (this.slowness > SLOW && this.motionScale > 0.5) { this.motionScale = Math.max(0.5, this.motionScale * 0.75); this.slowness = 30; }
    if (this.slowness < FAST && this.motionScale < 1) { this.motionScale = Math.min(1, this.motionScale * 1.3); this.slowness = 30; }
  }

  noteStillInterval(milliseconds) { this.stillness = mix(this.stillness ?? 30, Math.min(milliseconds, 600), 0.25); }

  get isSlow() { return this.stillness > 120; }

  get isReady() { return this.moment !== null && this.info !== undefined; }

  draw(camera, isMoving) {
    if (!this.isReady || this.gl.isContextLost()) return;
    this.resize(isMoving);
    // pictures of different views must not be laid on top of each other
    const place = [...camera.target, camera.azimuth, camera.elevation, camera.distance, ...camera.offset].join();
    if (isMoving || place !== this.place) this.nSamples = 0;
    this.place = place;
    const gl = this.gl, sample = this.nSamples;
    const { width, height } = this.buffer;
    const jitter = sample === 0 ? [0, 0] : [(spread(sample, 2) - 0.5) * 2 / width, (spread(sample, 3) - 0.5) * 2 / height];
    const seed = sample === 0 ? 0 : spread(sample, 5);
    const eye = camera.matrices(width / height, this.sceneBounds(), jitter);
    if (this.shadowIsOld) this.drawShadow();
    this.drawBuffer(eye, seed);
    this.drawOcclusion(eye, seed);
    this.drawLight(eye, seed, sample);
    this.present(sample === 0, seed);
    this.nSamples += 1;
    gl.bindVertexArray(null);
  }

  // What may be seen, for near and far planes and shadows.
  sceneBounds() {
    const bounds = this.box.map((corner) => [...corner]), now = this.moment?.header.bounds;
    if (now) {
      const margin = this.extent * 0.02;
      for (let axis = 0; axis < 3; axis++) {
        bounds[0][axis] = Math.min(bounds[0][axis], now[0][axis] - margin);
        bounds[1][axis] = Math.max(bounds[1][axis], now[1][axis] + margin);
      }
    }
    return bounds;
  }

  sphereUniforms(more = {}) {
    const { position, radius, value } = this.particles;
    const place = span(position), reach = span(radius), number = value ? span(value) : { low: [0], span: [0] };
    const [low, high] = this.coloring.range, logarithmic = this.coloring.log;
    return {
      positionLow: place.low, positionSpan: place.span, radiusLowSpan: [reach.low[0], reach.span[0]],
      valueLowSpan: [number.low[0], number.span[0]], valueRange: logarithmic ? [Math.log(low), Math.log(high)] : [low, high],
      byValue: value ? 1 : 0, logarithmic: logarithmic ? 1 : 0, size: this.options.size, chosen: this.chosen, least: 0.75,
      bodies: { texture: this.bodies, unit: 0 }, map: { texture: this.maps.get(this.coloring.stops), unit: 1 },
      ...more,
    };
  }

  drawSpheres(program, uniforms) {
    const gl = this.gl;
    if (this.moment.nParticles === 0) return;
    program.use(this.sphereUniforms(uniforms));
    gl.bindVertexArray(this.particleArrays);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.moment.nParticles);
  }

  drawSurfaces(program, uniforms) {
    const gl = this.gl, { visible, geometry } = this.options;
    if (geometry === "particles") return;
    for (const [body, slot] of this.surfaceSlots) {
      if (!slot.isShown || !visible[body] || slot.nCorners === 0) continue;
      const color = [...bodyColor(body).map((byte) => byte / 255), 1];
      program.use({ ...uniforms, ...slot.uniforms, model: IDENTITY, color, cover: 1 });
      gl.bindVertexArray(slot.arrays);
      gl.drawElements(gl.TRIANGLES, slot.nCorners, gl.UNSIGNED_INT, 0);
    }
  }

  pose(k) { return this.moment.header.obstacles?.[k] ?? IDENTITY; }

  drawObstacles(program, uniforms, forShadow) {
    const gl = this.gl;
    if (!this.options.showObstacles) return;
    const color = [...hexColor(this.theme.obstacle), 1];
    this.obstacles.forEach((obstacle, k) => {
      if (obstacle.kind !== "mesh" || (forShadow && (obstacle.cover < 1 || obstacle.inside))) return;
      program.use({
        ...uniforms, model: this.pose(k), color, cover: obstacle.cover,
        positionLow: [0, 0, 0], positionSpan: [1, 1, 1], normalLow: [0, 0, 0], normalSpan: [1, 1, 1],
      });
      if (obstacle.inside) { gl.enable(gl.CULL_FACE); gl.cullFace(gl.FRONT); }
      gl.bindVertexArray(obstacle.arrays);
      gl.drawArrays(gl.TRIANGLES, 0, obstacle.nCorners);
      gl.disable(gl.CULL_FACE);
    });
  }

  drawPlanes(eye) {
    const gl = this.gl;
    gl.bindVertexArray(this.empty);
    this.obstacles.forEach((obstacle, k) => {
      const isGround = obstacle.kind === "ground";
      if (!(isGround ? this.options.showGround : obstacle.kind === "plane" && this.options.showObstacles)) return;
      const pose = this.pose(k), normal = isGround ? [0, 1, 0] : obstacle.normal;
      const origin = isGround ? [this.middle[0], obstacle.height, this.middle[2]] : obstacle.point;
      const turned = normalized(subtract(transformed(pose, normal), transformed(pose, [0, 0, 0])));
      if (dot(subtract(eye.position, transformed(pose, origin)), turned) <= 0) return;
      const along = normalized(Math.abs(normal[0]) < 0.9 ? cross(cross(normal, [1, 0, 0]), normal) : cross([0, 1, 0], normal));
      const across = cross(normal, along);
      const extent = isGround ? 40 * this.extent : 0.9 * this.extent;
      this.programs.plane.use({
        ...eye.uniforms, model: pose, origin, along, across, extent, spacing: this.spacing, lines: 1,
        offset: isGround ? [dot(origin, along), dot(origin, across)] : [0, 0],
        color: hexColor(isGround ? this.theme.ground : this.theme.obstacle), lineColor: hexColor(this.theme.line),
        normal: eye.turned(turned), kind: isGround ? Number(KIND_GROUND) : Number(KIND_SOLID),
      });
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    });
  }

  drawBuffer(eye, seed) {
    const gl = this.gl;
    this.buffer.bind();
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.clearColor(0, 0, 0, 0);
    gl.clearDepth(1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const uniforms = { ...eye.uniforms, seed };
    this.drawSurfaces(this.programs.mesh, uniforms);
    this.drawObstacles(this.programs.mesh, uniforms, false);
    this.drawSpheres(this.programs.sphere, uniforms);
    this.drawPlanes(eye);
    gl.disable(gl.DEPTH_TEST);
  }

  screen(program, uniforms) {
    const gl = this.gl;
    program.use(uniforms);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  bufferUniforms(eye) {
    const { colors: [colors, normals], depth } = this.buffer;
    return {
      colors: { texture: colors, unit: 0 }, normals: { texture: normals, unit: 1 }, depths: { texture: depth, unit: 2 },
      unproject: eye.unproject, shift: eye.shift,
    };
  }

  drawOcclusion(eye, seed) {
    this.open.bind();
    this.screen(this.programs.occlusion, { ...this.bufferUniforms(eye), reach: 0.16 * this.extent, perPixel: eye.unproject[1], seed });
  }

  drawLight(eye, seed, sample) {
    const gl = this.gl, theme = this.theme;
    this.picture.bind();
    if (sample > 0) {
      gl.enable(gl.BLEND);
      gl.blendColor(0, 0, 0, 1 / (sample + 1));
      gl.blendFunc(gl.CONSTANT_ALPHA, gl.ONE_MINUS_CONSTANT_ALPHA);
    }
    this.screen(this.programs.light, {
      ...this.bufferUniforms(eye), seed,
      occlusion: { texture: this.open.colors[0], unit: 3 }, shadowMap: { texture: this.shadow.depth, unit: 4 },
      toLight: product(this.lightMatrix, eye.inverseView), toLightTurn: product(this.lightView, eye.inverseView),
      shadowSize: 0.028 * this.extent / (2 * this.lightHalf), shadowTexel: 2 * this.lightHalf / SHADOW_TEXELS,
      keyDirection: eye.turned(this.keyDirection), fillDirection: eye.turned(this.fillDirection), up: eye.turned([0, 1, 0]),
      keyColor: theme.key, fillColor: theme.fill, skyColor: theme.sky, bounceColor: theme.bounce,
      skyTop: theme.top, skyHorizon: theme.horizon, skyBottom: theme.bottom,
      groundFade: [0.8 * this.extent, 4 * this.extent], middle: transformed(eye.view, this.middle),
    });
    gl.disable(gl.BLEND);
  }

  present(smoothing, seed) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    this.screen(this.programs.present, { picture: { texture: this.picture.colors[0], unit: 0 }, smoothing: smoothing ? 1 : 0, seed });
  }

  // The light stands still in the world, over the left shoulder of the first camera.
  get keyDirection() { return normalized([-0.26, 1.0, 0.74]); }
  get fillDirection() { return normalized([0.9, 0.25, -0.05]); }

  drawShadow() {
    const gl = this.gl, bounds = this.sceneBounds();
    const center = scaled(add(bounds[0], bounds[1]), 0.5), half = 0.5 * length(subtract(bounds[1], bounds[0])) * 1.04 + 1e-6;
    const forward = scaled(this.keyDirection, -1), right = normalized(cross(forward, [0, 1, 0])), up = cross(right, forward);
    const view = viewMatrix(add(center, scaled(this.keyDirection, 2 * half)), right, up, forward);
    const projection = orthographic(half, 0.5 * half, 3.5 * half);
    this.lightHalf = half;
    this.lightView = view;
    this.lightMatrix = product(projection, view);
    this.shadow.bind();
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    const uniforms = { view, projection };
    this.drawSpheres(this.programs.sphereShadow, uniforms);
    this.drawSurfaces(this.programs.meshShadow, uniforms);
    this.drawObstacles(this.programs.meshShadow, uniforms, true);
    gl.disable(gl.DEPTH_TEST);
    this.shadowIsOld = false;
  }

  // The row of the particle at a place of the canvas (CSS pixels), or -1.
  pick(camera, x, y) {
    if (!this.isReady || this.moment.nParticles === 0) return -1;
    const gl = this.gl, { clientWidth: width, clientHeight: height } = this.canvas;
    const eye = camera.matrices(width / height, this.sceneBounds(), [0, 0]);
    // the few pixels around the place fill the target
    const [cx, cy] = [2 * x / width - 1, 1 - 2 * y / height], [sx, sy] = [width / PICK_PIXELS, height / PICK_PIXELS];
    const narrow = new Float32Array([sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, 1, 0, -cx * sx, -cy * sy, 0, 1]);
    this.pickTarget.bind();
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawSpheres(this.programs.pick, { ...eye.uniforms, projection: product(narrow, eye.uniforms.projection), least: 0.25 });
    const pixels = new Uint8Array(4 * PICK_PIXELS ** 2);
    gl.readPixels(0, 0, PICK_PIXELS, PICK_PIXELS, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(null);
    let best = -1, nearest = Infinity;
    const half = (PICK_PIXELS - 1) / 2;
    for (let k = 0; k < PICK_PIXELS ** 2; k++) {
      const row = pixels[4 * k] + 256 * pixels[4 * k + 1] + 65536 * pixels[4 * k + 2] + 16777216 * pixels[4 * k + 3] - 1;
      const off = Math.hypot((k % PICK_PIXELS) - half, Math.floor(k / PICK_PIXELS) - half);
      if (row >= 0 && off < nearest) [nearest, best] = [off, row];
    }
    return best;
  }

  // Draws the final picture at once, for what reads the canvas in the same breath.
  finish(camera) {
    while (!this.isFinished) this.draw(camera, false);
    this.draw(camera, false);
  }
}
