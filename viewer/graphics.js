// What WebGL2 is asked for again and again: programs, textures, targets.

const ATTRIBUTES = { position: 0, radius: 1, body: 2, value: 3, normal: 4 };

class Program {
  constructor(gl, vertex, fragment) {
    this.gl = gl;
    this.handle = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(this.handle, shader);
      this.shaders = [...(this.shaders || []), shader];
    }
    for (const [name, place] of Object.entries(ATTRIBUTES)) gl.bindAttribLocation(this.handle, place, name);
    gl.linkProgram(this.handle);
  }

  // Asked for only when it is used: browsers compile in the background.
  prepare() {
    const gl = this.gl;
    if (!gl.getProgramParameter(this.handle, gl.LINK_STATUS)) {
      const logs = this.shaders.map((shader) => gl.getShaderInfoLog(shader)).filter(Boolean);
      throw new Error(`The graphics driver refuses a program: ${[gl.getProgramInfoLog(this.handle), ...logs].join(" ")}`);
    }
    this.uniforms = new Map();
    for (let k = 0; k < gl.getProgramParameter(this.handle, gl.ACTIVE_UNIFORMS); k++) {
      const { name, type } = gl.getActiveUniform(this.handle, k);
      this.uniforms.set(name, { place: gl.getUniformLocation(this.handle, name), type });
    }
  }

  // Uses the program with these values; textures are given as { texture, unit }.
  use(values) {
    const gl = this.gl;
    if (!this.uniforms) this.prepare();
    gl.useProgram(this.handle);
    this.set(values);
    return this;
  }

  set(values) {
    const gl = this.gl;
    for (const [name, value] of Object.entries(values)) {
      const uniform = this.uniforms.get(name);
      if (!uniform) continue;
      const { place, type } = uniform;
      switch (type) {
        case gl.FLOAT: gl.uniform1f(place, value); break;
        case gl.FLOAT_VEC2: gl.uniform2fv(place, value); break;
        case gl.FLOAT_VEC3: gl.uniform3fv(place, value); break;
        case gl.FLOAT_VEC4: gl.uniform4fv(place, value); break;
        case gl.FLOAT_MAT4: gl.uniformMatrix4fv(place, false, value); break;
        case gl.SAMPLER_2D:
          gl.activeTexture(gl.TEXTURE0 + value.unit);
          gl.bindTexture(gl.TEXTURE_2D, value.texture);
          gl.uniform1i(place, value.unit);
          break;
        default: gl.uniform1i(place, value);
      }
    }
  }
}

function makeTexture(gl, format, width, height, filter, pixels = null) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  if (pixels) gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  else gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
  for (const [name, value] of [
    [gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
  ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
  return texture;
}

// A set of textures that is drawn into.
class Target {
  constructor(gl, width, height, formats, depthFormat = null, filter = gl.NEAREST) {
    Object.assign(this, { gl, width, height });
    this.handle = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.handle);
    this.colors = formats.map((format, k) => {
      const texture = makeTexture(gl, format, width, height, filter);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + k, gl.TEXTURE_2D, texture, 0);
      return texture;
    });
    if (depthFormat) {
      this.depth = makeTexture(gl, depthFormat, width, height, gl.NEAREST);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depth, 0);
    }
    if (formats.length > 0) gl.drawBuffers(formats.map((_, k) => gl.COLOR_ATTACHMENT0 + k));
    else { gl.drawBuffers([gl.NONE]); gl.readBuffer(gl.NONE); }
  }

  bind() {
    this.gl.bindFramebuffer(this.gl.FRAMEBUFFER, this.handle);
    this.gl.viewport(0, 0, this.width, this.height);
  }

  release() {
    for (const texture of [...this.colors, this.depth]) if (texture) this.gl.deleteTexture(texture);
    this.gl.deleteFramebuffer(this.handle);
  }
}

// How an array of a packet is read by a program: low + span * attribute.
function span(array) {
  const n = array.components, low = array.low || new Array(n).fill(0);
  return { low, span: array.low ? low.map((x, k) => array.high[k] - x) : new Array(n).fill(1) };
}

function bindArray(gl, attribute, array, divisor) {
  const place = ATTRIBUTES[attribute];
  if (!array) {
    gl.disableVertexAttribArray(place);
    gl.vertexAttrib4f(place, 0, 0, 0, 0);
    return;
  }
  gl.enableVertexAttribArray(place);
  gl.vertexAttribDivisor(place, divisor);
  const kind = { f32: gl.FLOAT, u32: gl.UNSIGNED_INT, u16: gl.UNSIGNED_SHORT, u8: gl.UNSIGNED_BYTE }[array.type];
  if (attribute === "body") gl.vertexAttribIPointer(place, 1, kind, 0, array.offset);
  else gl.vertexAttribPointer(place, array.components, kind, array.type !== "f32", 0, array.offset);
}

// Corners of a mesh with normals of their own where it has edges, smooth where it is round.
function shadedMesh(vertices, triangles) {
  const SHARP = Math.cos(35 * Math.PI / 180);
  const nTriangles = triangles.length / 3, faces = new Float32Array(3 * nTriangles), ofVertex = new Map();
  const vertex = (k) => [vertices[3 * k], vertices[3 * k + 1], vertices[3 * k + 2]];
  const key = (k) => vertex(k).map((x) => Math.round(x * 1e5)).join();
  const keys = new Map();
  const sameAs = (k) => { const text = key(k); if (!keys.has(text)) keys.set(text, k); return keys.get(text); };
  for (let t = 0; t < nTriangles; t++) {
    const [a, b, c] = [0, 1, 2].map((k) => vertex(triangles[3 * t + k]));
    faces.set(cross(subtract(b, a), subtract(c, a)), 3 * t);
    for (let k = 0; k < 3; k++) {
      const shared = sameAs(triangles[3 * t + k]);
      if (!ofVertex.has(shared)) ofVertex.set(shared, []);
      ofVertex.get(shared).push(t);
    }
  }
  const positions = new Float32Array(9 * nTriangles), normals = new Float32Array(9 * nTriangles);
  for (let t = 0; t < nTriangles; t++) {
    const own = Array.from(faces.subarray(3 * t, 3 * t + 3)), direction = normalized(own);
    for (let k = 0; k < 3; k++) {
      const corner = triangles[3 * t + k];
      let sum = [0, 0, 0];
      for (const other of ofVertex.get(sameAs(corner))) {
        const face = Array.from(faces.subarray(3 * other, 3 * other + 3));
        if (dot(normalized(face), direction) > SHARP) sum = add(sum, face);
      }
      positions.set(vertex(corner), 9 * t + 3 * k);
      normals.set(normalized(sum), 9 * t + 3 * k);
    }
  }
  return { positions, normals, nCorners: 3 * nTriangles };
}
