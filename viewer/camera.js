// The eye: turns around a target, moves with it, comes nearer. And the hands that lead it: mouse, touch, wheel.

const TAN_HALF = Math.tan(0.5 * 32 * Math.PI / 180);
const FIRST_AZIMUTH = 0.6, FIRST_ELEVATION = 0.30;
const CLICK_PIXELS = 5;

class Camera {
  constructor() {
    Object.assign(this, { target: [0, 0, 0], azimuth: FIRST_AZIMUTH, elevation: FIRST_ELEVATION, distance: 5 });
    // Where the target is in the view (-1..1): in the middle of what nothing covers.
    this.offset = [0, 0];
  }

  // Turns `middle`, `box` into a view of all of it; `free` is the share of the width and height that nothing covers.
  frame(bounds, aspect, free = [1, 1]) {
    const middle = scaled(add(bounds[0], bounds[1]), 0.5);
    const { right, up, forward } = this.axes();
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const off = subtract([0, 1, 2].map((axis) => bounds[(corner >> axis) & 1][axis]), middle);
      const depth = dot(off, forward);
      distance = Math.max(distance, Math.abs(dot(off, up)) / (TAN_HALF * free[1]) - depth, Math.abs(dot(off, right)) / (TAN_HALF * aspect * free[0]) - depth);
    }
    this.target = middle;
    this.distance = distance * 1.12 || 1;
  }

  reset() { Object.assign(this, { azimuth: FIRST_AZIMUTH, elevation: FIRST_ELEVATION }); }

  axes() {
    const [sa, ca, se, ce] = [Math.sin(this.azimuth), Math.cos(this.azimuth), Math.sin(this.elevation), Math.cos(this.elevation)];
    const forward = [-sa * ce, -se, -ca * ce], right = [ca, 0, -sa];
    return { forward, right, up: cross(right, forward) };
  }

  get eye() { return subtract(this.target, scaled(this.axes().forward, this.distance)); }

  turn(dx, dy) {
    this.azimuth -= dx;
    this.elevation = clamp(this.elevation + dy, -1.55, 1.55);
  }

  // By shares of the view's height at the target.
  move(dx, dy) {
    const { right, up } = this.axes(), size = 2 * TAN_HALF * this.distance;
    this.target = add(this.target, add(scaled(right, -dx * size), scaled(up, dy * size)));
  }

  // Comes nearer by a factor, towards a place of the canvas.
  zoomAt(factor, x, y, width, height) {
    const [cx, cy] = this.center(width, height);
    this.zoom(factor, [(x - cx) * 2 / height, (cy - y) * 2 / height]);
  }

  // Towards a place of the view, in half heights from the target.
  zoom(factor, [x, y] = [0, 0]) {
    const before = this.distance;
    this.distance = clamp(before * factor, 1e-6, 1e7);
    const { right, up } = this.axes(), size = TAN_HALF * (before - this.distance);
    this.target = add(this.target, add(scaled(right, x * size), scaled(up, y * size)));
  }

  // All that programs need to know.
  matrices(aspect, bounds, jitter) {
    const { right, up, forward } = this.axes(), position = this.eye;
    const view = viewMatrix(position, right, up, forward);
    const reach = length(subtract(bounds[1], bounds[0])), off = length(subtract(scaled(add(bounds[0], bounds[1]), 0.5), position));
    const far = off + 12 * reach, near = Math.max(off - 2.2 * reach, this.distance * 0.01, far * 2e-5);
    const projection = perspective(TAN_HALF, aspect, near, far);
    const shift = [jitter[0] + this.offset[0], jitter[1] + this.offset[1]];
    projection[8] = -shift[0];
    projection[9] = -shift[1];
    const back = scaled(forward, -1);
    const inverseView = new Float32Array([...right, 0, ...up, 0, ...back, 0, ...position, 1]);
    return {
      position, view, inverseView, shift, uniforms: { view, projection },
      unproject: [TAN_HALF * aspect, TAN_HALF, projection[14], projection[10]],
      turned: (v) => [dot(right, v), dot(up, v), dot(back, v)],
    };
  }

  // Where a point of the world is on a canvas [CSS pixels], or null if it is behind the eye.
  onScreen(point, width, height) {
    const { right, up, forward } = this.axes(), off = subtract(point, this.eye), depth = dot(off, forward);
    if (!(depth > 0)) return null;
    const scale = height / (2 * TAN_HALF * depth);
    const [x, y] = this.center(width, height);
    return [x + dot(off, right) * scale, y - dot(off, up) * scale];
  }

  // The point under a place of the canvas, in the plane through `point` that faces the eye.
  inPlaneOf(point, x, y, width, height) {
    const { right, up, forward } = this.axes(), eye = this.eye, depth = dot(subtract(point, eye), forward);
    const scale = 2 * TAN_HALF * depth / height;
    const [cx, cy] = this.center(width, height);
    return add(add(eye, scaled(forward, depth)), add(scaled(right, (x - cx) * scale), scaled(up, (cy - y) * scale)));
  }

  // Where the target is on a canvas. [CSS pixels]
  center(width, height) { return [width / 2 * (1 + this.offset[0]), height / 2 * (1 - this.offset[1])]; }
}

// Leads a camera with pointers. `actions`: changed(), pick(x, y), and grab(x, y), drag(x, y), drop() for what can be dragged.
class Hands {
  constructor(canvas, camera, actions) {
    Object.assign(this, { canvas, camera, actions, pointers: new Map(), moved: 0, mode: null });
    const on = (name, handle, options) => canvas.addEventListener(name, handle, options);
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event, true));
    on("pointercancel", (event) => this.up(event, false));
    on("contextmenu", (event) => event.preventDefault());
    on("wheel", (event) => this.wheel(event), { passive: false });
  }

  get isBusy() { return this.pointers.size > 0; }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.pointers.set(event.pointerId, this.place(event));
    if (this.pointers.size === 1) {
      this.moved = 0;
      const [x, y] = this.place(event);
      const moves = event.button === 1 || event.button === 2 || event.shiftKey || event.ctrlKey || event.metaKey;
      this.mode = moves ? "move" : this.actions.grab(x, y) ? "grab" : "turn";
      this.isDragging = false;
    } else {
      if (this.mode === "grab" && this.isDragging) this.actions.drop();
      this.mode = "touch";
    }
    this.canvas.classList.toggle("turning", this.mode !== "grab");
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.place(event), height = this.canvas.clientHeight;
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.pointers.set(event.pointerId, now);
    this.moved += Math.hypot(dx, dy);
    if (this.mode === "touch" && others.length > 0) this.pinch(before, now, others[0], height);
    else if (this.mode === "move") this.camera.move(dx / height, dy / height);
    else if (this.mode === "grab") {
      if (this.moved > CLICK_PIXELS || this.isDragging) {
        this.isDragging = true;
        this.actions.drag(...now);
      }
      return;
    } else if (this.mode === "turn" && this.moved > CLICK_PIXELS / 2) this.camera.turn(4.2 * dx / height, 3.4 * dy / height);
    this.actions.changed();
  }

  pinch(before, now, other, height) {
    const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
    this.camera.move((now[0] - before[0]) / 2 / height, (now[1] - before[1]) / 2 / height);
    const box = this.canvas, [x, y] = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
    this.camera.zoomAt(apart(before) / Math.max(apart(now), 1), x, y, box.clientWidth, box.clientHeight);
  }

  up(event, isDeliberate) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pointers.size > 0) return;
    if (this.mode === "grab" && this.isDragging) this.actions.drop();
    else if (isDeliberate && this.moved <= CLICK_PIXELS && (this.mode === "turn" || this.mode === "grab")) this.actions.pick(...this.place(event));
    this.mode = null;
    this.canvas.classList.remove("turning");
    this.actions.changed();
  }

  wheel(event) {
    event.preventDefault();
    const { clientWidth: width, clientHeight: height } = this.canvas, [x, y] = this.place(event);
    const amount = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1) * (event.ctrlKey ? 6 : 1);
    this.camera.zoomAt(Math.exp(clamp(amount, -300, 300) * 0.0015), x, y, width, height);
    this.actions.changed();
  }
}
