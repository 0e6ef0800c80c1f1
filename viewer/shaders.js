// Programs of the graphics card. Things are drawn into a buffer of colour, normal and depth; light comes afterwards.

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
`;

// How the buffer is written and read. Normals are folded onto a square, 16 bits an axis.
const BUFFER_OUT = `
layout(location = 0) out vec4 outColor;
layout(location = 1) out vec4 outNormal;
vec2 signs(vec2 v) { return vec2(v.x < 0.0 ? -1.0 : 1.0, v.y < 0.0 ? -1.0 : 1.0); }
void put(vec3 color, float kind, vec3 normal) {
  outColor = vec4(color, kind);
  vec3 n = normal / (abs(normal.x) + abs(normal.y) + abs(normal.z));
  vec2 folded = n.z < 0.0 ? (1.0 - abs(n.yx)) * signs(n.xy) : n.xy;
  vec2 wide = floor(clamp(folded * 0.5 + 0.5, 0.0, 1.0) * 65535.0 + 0.5);
  vec2 high = floor(wide / 256.0);
  outNormal = vec4(high, wide - 256.0 * high).xzyw / 255.0;
}
`;
const KIND_GROUND = "0.25", KIND_SOLID = "1.0", KIND_CHOSEN = "0.75";

// Spheres. A square that just covers the sphere's outline as seen from the eye; the ray of each pixel meets the true sphere.
const SPHERE_VERTEX = `${HEAD}
in vec3 position;
in float radius;
in uint body;
in float value;
uniform mat4 view, projection;
uniform vec3 positionLow, positionSpan;
uniform vec2 radiusLowSpan, valueLowSpan, valueRange;
uniform float size;
uniform bool byValue, logarithmic;
uniform sampler2D bodies, map;
uniform int chosen;
uniform float least;   // what must be seen of the body
flat out vec3 center;
flat out float reach;
flat out vec4 color;
flat out int row;
out vec3 place;
void main() {
  vec4 ofBody = texelFetch(bodies, ivec2(int(body) & 255, int(body) >> 8), 0);
  row = gl_InstanceID;
  reach = (radiusLowSpan.x + radiusLowSpan.y * radius) * size;
  center = (view * vec4(positionLow + positionSpan * position, 1.0)).xyz;
  color = vec4(ofBody.rgb, ${KIND_SOLID});
  if (byValue) {
    float v = valueLowSpan.x + valueLowSpan.y * value;
    bool missing = isnan(v);
    if (logarithmic) v = v > 0.0 ? log(v) : -1e30;
    float share = clamp((v - valueRange.x) / (valueRange.y - valueRange.x), 0.0, 1.0);
    color.rgb = missing ? vec3(0.54) : texture(map, vec2((share * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  }
  if (gl_InstanceID == chosen) color = vec4(mix(color.rgb, vec3(1.0), 0.75), ${KIND_CHOSEN});
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  float distance2 = dot(center, center);
  bool hidden = (ofBody.a < least && gl_InstanceID != chosen) || !(distance2 > reach * reach) || !(reach > 0.0);
  float toEdge = sqrt(max(1.0 - reach * reach / distance2, 0.0));
  vec3 ahead = center * inversesqrt(distance2);
  vec3 aside = normalize(abs(ahead.y) < 0.99 ? cross(ahead, vec3(0, 1, 0)) : cross(ahead, vec3(1, 0, 0)));
  place = center * toEdge * toEdge + (aside * corner.x + cross(aside, ahead) * corner.y) * reach * toEdge;
  gl_Position = hidden ? vec4(2, 2, 2, 1) : projection * vec4(place, 1.0);
}`;

const SPHERE_HIT = `
flat in vec3 center;
flat in float reach;
flat in vec4 color;
flat in int row;
in vec3 place;
uniform mat4 projection;
vec3 hit() {
  vec3 ray = normalize(place);
  float along = dot(ray, center);
  vec3 off = center - ray * along;
  float inside = reach * reach - dot(off, off);
  if (inside < 0.0) discard;
  vec3 point = ray * (along - sqrt(inside));
  vec2 clip = projection[2].zw * point.z + projection[3].zw;
  gl_FragDepth = clip.x / clip.y * 0.5 + 0.5;
  return point;
}
`;
const SPHERE_FRAGMENT = `${HEAD}${BUFFER_OUT}${SPHERE_HIT}
void main() {
  vec3 normal = (hit() - center) / reach;
  put(color.rgb, color.a, normal);
}`;
const SPHERE_PICK = `${HEAD}${SPHERE_HIT}
out vec4 outRow;
void main() {
  hit();
  int number = row + 1;
  outRow = vec4(number & 255, (number >> 8) & 255, (number >> 16) & 255, (number >> 24) & 255) / 255.0;
}`;

// Spheres as discs towards the light.
const SPHERE_SHADOW_VERTEX = `${HEAD}
in vec3 position;
in float radius;
in uint body;
uniform mat4 view, projection;
uniform vec3 positionLow, positionSpan;
uniform vec2 radiusLowSpan;
uniform float size;
uniform sampler2D bodies;
out vec2 at;
void main() {
  vec4 ofBody = texelFetch(bodies, ivec2(int(body) & 255, int(body) >> 8), 0);
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  float reach = (radiusLowSpan.x + radiusLowSpan.y * radius) * size;
  vec4 center = view * vec4(positionLow + positionSpan * position, 1.0);
  center.xy += at * reach;
  gl_Position = ofBody.a < 0.75 ? vec4(2, 2, 2, 1) : projection * center;
}`;
const SPHERE_SHADOW_FRAGMENT = `${HEAD}
in vec2 at;
void main() { if (dot(at, at) > 1.0) discard; }`;

// Triangles: surfaces and obstacles.
const MESH_VERTEX = `${HEAD}
in vec3 position;
in vec3 normal;
uniform mat4 model, view, projection;
uniform vec3 positionLow, positionSpan, normalLow, normalSpan;
out vec3 facing;
out vec3 place;
void main() {
  facing = mat3(view) * mat3(model) * (normalLow + normalSpan * normal);
  place = (view * model * vec4(positionLow + positionSpan * position, 1.0)).xyz;
  gl_Position = projection * vec4(place, 1.0);
}`;
const MESH_FRAGMENT = `${HEAD}${BUFFER_OUT}
in vec3 facing;
in vec3 place;
uniform vec4 color;
uniform float cover;
uniform float seed;
void main() {
  // what lets light through is there in some pixels only; many pictures on top of each other make it even
  if (cover < 1.0 && fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))) + seed) > cover) discard;
  vec3 flatNormal = normalize(cross(dFdx(place), dFdy(place)));
  vec3 normal = normalize(facing);
  if (dot(normal, flatNormal) < 0.0) normal = -normal;
  // at an edge the mean of its faces is the normal of neither
  normal = mix(flatNormal, normal, smoothstep(0.70, 0.86, dot(normal, flatNormal)));
  put(color.rgb, ${KIND_SOLID}, normalize(normal));
}`;
const MESH_SHADOW_FRAGMENT = `${HEAD}
void main() {}`;

// Ground and other planes: a square with lines at round distances.
const PLANE_VERTEX = `${HEAD}
uniform mat4 view, projection, model;
uniform vec3 origin, along, across;
uniform float extent;
out vec2 at;
void main() {
  at = (vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0) * extent;
  gl_Position = projection * view * model * vec4(origin + along * at.x + across * at.y, 1.0);
}`;
const PLANE_FRAGMENT = `${HEAD}${BUFFER_OUT}
in vec2 at;
uniform vec3 color, lineColor, normal;
uniform vec2 offset;
uniform float spacing, extent, lines, kind;
float grid(float step, float width) {
  vec2 cell = (at + offset) / step, blur = fwidth(cell);
  vec2 off = abs(fract(cell - 0.5) - 0.5);
  vec2 line = 1.0 - smoothstep(width * blur, (width + 1.0) * blur, off);
  line *= 1.0 - smoothstep(0.15, 0.5, blur);
  return max(line.x, line.y);
}
void main() {
  float fine = grid(spacing, 0.05), coarse = grid(5.0 * spacing, 0.25);
  float line = max(0.5 * fine, 0.9 * coarse) * lines;
  if (kind > 0.5) {
    float edge = extent - max(abs(at.x), abs(at.y));
    line = max(line, 1.0 - smoothstep(0.0, 2.0 * fwidth(edge), edge));
  }
  put(mix(color, lineColor, line), kind, normal);
}`;

const SCREEN_VERTEX = `${HEAD}
out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0;
  gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);
}`;

const BUFFER_IN = `
uniform sampler2D colors, normals, depths;
uniform vec4 unproject;   // x, y: half sizes of the view at distance 1; z, w: from depth to distance
uniform vec2 shift;
float distanceAt(ivec2 pixel) {
  return unproject.z / (unproject.w + texelFetch(depths, pixel, 0).r * 2.0 - 1.0);
}
vec3 placeAt(ivec2 pixel, vec2 size) {
  vec2 screen = (vec2(pixel) + 0.5) / size * 2.0 - 1.0 - shift;
  return vec3(screen * unproject.xy, -1.0) * distanceAt(pixel);
}
vec3 normalAt(ivec2 pixel) {
  vec4 stored = texelFetch(normals, pixel, 0) * 255.0;
  vec2 folded = (stored.xz * 256.0 + stored.yw) / 65535.0 * 2.0 - 1.0;
  vec3 n = vec3(folded, 1.0 - abs(folded.x) - abs(folded.y));
  if (n.z < 0.0) n.xy = (1.0 - abs(n.yx)) * vec2(n.x < 0.0 ? -1.0 : 1.0, n.y < 0.0 ? -1.0 : 1.0);
  return normalize(n);
}
float grain(vec2 pixel) { return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715)))); }
`;

// How much of the sky a place sees, from what stands around it on the screen.
const OCCLUSION_FRAGMENT = `${HEAD}${BUFFER_IN}
in vec2 at;
uniform float reach;      // of the search, in the world
uniform float perPixel;   // world size of half the screen's height at distance 1
uniform float seed;
out vec4 outLight;
const int N = 11;
void main() {
  vec2 size = vec2(textureSize(depths, 0));
  ivec2 pixel = ivec2(at * size);
  float kind = texelFetch(colors, pixel, 0).a;
  if (kind == 0.0) { outLight = vec4(1); return; }
  vec3 place = placeAt(pixel, size), normal = normalAt(pixel);
  float onScreen = clamp(reach / (perPixel * -place.z) * 0.5 * size.y, 3.0, 0.22 * size.y);
  float inWorld = onScreen * perPixel * -place.z * 2.0 / size.y;
  float turn = (grain(gl_FragCoord.xy) + seed) * 6.2831853, start = fract(grain(gl_FragCoord.yx + 17.0) + seed * 1.618);
  float sum = 0.0;
  for (int k = 0; k < N; k++) {
    float share = (float(k) + start) / float(N);
    float angle = turn + float(k) * 2.3999632;
    vec2 step = vec2(cos(angle), sin(angle)) * (share * share) * onScreen;
    ivec2 there = clamp(pixel + ivec2(step), ivec2(0), ivec2(size) - 1);
    vec3 away = placeAt(there, size) - place;
    float far2 = dot(away, away);
    float fade = max(1.0 - far2 / (inWorld * inWorld), 0.0);
    sum += max(dot(away, normal) - 0.002 * -place.z * perPixel, 0.0) * inversesqrt(far2 + 1e-12) * fade;
  }
  outLight = vec4(clamp(1.0 - 1.55 * sum / float(N), 0.0, 1.0));
}`;

// Light: a warm key light with shadows, a cool sky, a reflection from the floor.
const LIGHT_FRAGMENT = `${HEAD}${BUFFER_IN}
in vec2 at;
uniform sampler2D occlusion, shadowMap;
uniform mat4 toLight, toLightTurn;   // view space to the light's clip space, and to its axes
uniform vec3 keyDirection, fillDirection, up;   // in view space
uniform vec3 keyColor, fillColor, skyColor, bounceColor;
uniform vec3 skyTop, skyHorizon, skyBottom;
uniform vec2 groundFade;         // distances from the middle, in the world
uniform vec3 middle;             // in view space
uniform float shadowSize, seed, shadowTexel;
out vec4 outColor;
vec3 toLinear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }
float open(ivec2 pixel, float distance) {
  ivec2 size = textureSize(occlusion, 0), whole = textureSize(depths, 0);
  vec2 ratio = vec2(size) / vec2(whole);
  vec2 base = (vec2(pixel) + 0.5) * ratio - 0.5;
  float sum = 0.0, weights = 0.0;
  for (int y = -1; y <= 2; y++) for (int x = -1; x <= 2; x++) {
    ivec2 cell = clamp(ivec2(floor(base)) + ivec2(x, y), ivec2(0), size - 1);
    ivec2 there = clamp(ivec2((vec2(cell) + 0.5) / ratio), ivec2(0), whole - 1);
    float apart = abs(distanceAt(there) - distance) / distance;
    float weight = exp2(-apart * 220.0) + 1e-4;
    sum += texelFetch(occlusion, cell, 0).r * weight;
    weights += weight;
  }
  return sum / weights;
}
float lit(vec3 place, vec3 normal, vec2 pixel) {
  vec4 p = toLight * vec4(place + normal * shadowTexel * 2.2, 1.0);
  vec3 s = p.xyz * 0.5 + 0.5;
  if (any(lessThan(s, vec3(0.002))) || any(greaterThan(s, vec3(0.998)))) return 1.0;
  float turn = (grain(pixel) + seed) * 6.2831853;
  // a slanted surface must not shadow itself: beside the place it lies deeper or less deep
  vec3 facing = mat3(toLightTurn) * normal;
  vec2 slope = facing.xy * 2.0 / (3.0 * max(facing.z, 0.2));
  float sum = 0.0;
  const int N = 9;
  for (int k = 0; k < N; k++) {
    float r = sqrt((float(k) + 0.5) / float(N)) * shadowSize, angle = turn + float(k) * 2.3999632;
    vec2 aside = vec2(cos(angle), sin(angle)) * r;
    float depth = texture(shadowMap, s.xy + aside).r;
    sum += step(s.z + dot(slope, aside) - 0.0012, depth);
  }
  return sum / float(N);
}
void main() {
  vec2 size = vec2(textureSize(depths, 0));
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  vec3 ray = normalize(vec3((gl_FragCoord.xy / size * 2.0 - 1.0 - shift) * unproject.xy, -1.0));
  float height = dot(ray, up);
  vec3 sky = height > 0.0 ? mix(skyHorizon, skyTop, smoothstep(0.0, 0.7, height)) : mix(skyHorizon, skyBottom, smoothstep(0.0, 0.55, -height));
  vec4 stored = texelFetch(colors, pixel, 0);
  if (stored.a == 0.0) { outColor = vec4(sky, 1.0); return; }
  vec3 albedo = toLinear(stored.rgb), place = placeAt(pixel, size), normal = normalAt(pixel);
  float sees = open(pixel, -place.z);
  float key = max(dot(normal, keyDirection), 0.0);
  if (key > 0.0) key *= lit(place, normal, gl_FragCoord.xy);
  float upward = dot(normal, up) * 0.5 + 0.5;
  vec3 around = mix(bounceColor, skyColor, upward) * sees;
  if (stored.a < 0.5) {
    // the ground is the background's colour where nothing keeps light from it, so that it can melt into it
    vec3 free = skyColor + keyColor * max(dot(up, keyDirection), 0.0);
    vec3 share = (around + keyColor * key) / free;
    float off = length(place - middle - up * dot(place - middle, up));
    float fade = smoothstep(groundFade.x, groundFade.y, off);
    outColor = vec4(mix(albedo * mix(vec3(1.0), share, 0.92), sky, fade), 1.0);
    return;
  }
  vec3 light = around + keyColor * key + fillColor * max(dot(normal, fillDirection), 0.0) * sees;
  vec3 toEye = -normalize(place);
  float shine = pow(max(dot(normal, normalize(keyDirection + toEye)), 0.0), 36.0) * step(0.0001, key);
  float rim = pow(1.0 - max(dot(normal, toEye), 0.0), 4.0);
  vec3 color = albedo * light + vec3(0.10) * shine * key + skyColor * 0.14 * rim * sees;
  if (stored.a < 0.9) color = mix(color, vec3(1.0, 0.96, 0.9), 0.35 + 0.3 * rim);
  outColor = vec4(color, 1.0);
}`;

// To the screen: smooth edges while things move, the display's curve, and grain against bands.
const PRESENT_FRAGMENT = `${HEAD}
in vec2 at;
uniform sampler2D picture;
uniform bool smoothing;
uniform float seed;
out vec4 outColor;
float luma(vec3 c) { return sqrt(dot(min(c, 1.0), vec3(0.299, 0.587, 0.114))); }
void main() {
  vec2 texel = 1.0 / vec2(textureSize(picture, 0));
  vec3 color = texture(picture, at).rgb;
  if (smoothing) {
    float n = luma(texture(picture, at + vec2(0, texel.y)).rgb), s = luma(texture(picture, at - vec2(0, texel.y)).rgb);
    float e = luma(texture(picture, at + vec2(texel.x, 0)).rgb), w = luma(texture(picture, at - vec2(texel.x, 0)).rgb);
    float m = luma(color);
    float low = min(m, min(min(n, s), min(e, w))), high = max(m, max(max(n, s), max(e, w)));
    if (high - low > max(0.04, high * 0.09)) {
      // mix along the edge, across the slope of brightness
      vec2 slope = vec2(e - w, n - s);
      vec2 along = length(slope) > 1e-4 ? normalize(vec2(-slope.y, slope.x)) : vec2(0);
      vec3 near = 0.5 * (texture(picture, at + along * texel * 0.5).rgb + texture(picture, at - along * texel * 0.5).rgb);
      vec3 far = 0.5 * (texture(picture, at + along * texel * 1.5).rgb + texture(picture, at - along * texel * 1.5).rgb);
      vec3 mean = 0.25 * (texture(picture, at + vec2(0, texel.y)).rgb + texture(picture, at - vec2(0, texel.y)).rgb
        + texture(picture, at + vec2(texel.x, 0)).rgb + texture(picture, at - vec2(texel.x, 0)).rgb);
      color = mix(mix(near, far, 0.4), mean, 0.25);
    }
  }
  color = clamp(color, 0.0, 1.0);
  color = mix(color * 12.92, 1.055 * pow(color, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, color));
  float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy + seed * 61.0, vec2(0.06711056, 0.00583715)))) - 0.5;
  outColor = vec4(color + grain / 255.0, 1.0);
}`;
