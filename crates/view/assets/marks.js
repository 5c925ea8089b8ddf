"use strict";
// What a chart is made of: the ticks' words, and marks, boxes and bars on a canvas. Shapes, dashes and hatching tell the
// series apart where colours can't.
const marks = (() => {
  const SHAPES = ["circle", "square", "triangle", "diamond", "down", "plus", "bowtie"];
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  // Series beyond the seventh have another colour with each shape, and another filling: faint, full, none.
  const seriesColor = (index) => color(`series-${(index + Math.floor(index / 7)) % 7 + 1}`);
  const FILLS = [0.35, 1, 0];
  const mark = (index) => ({ shape: SHAPES[index % SHAPES.length], fill: FILLS[Math.floor(index / 7) % 3] });

  // Ticks: a number and a unit, as short as they can be.
  const STEPS = {
    ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
    bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]],
    share: [[0.01, "%"]],
    ratio: [[1, "x"]],
    count: [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]],
  };
  function tick(value, unit) {
    if (value === null) return null;
    if (value === 0) return "0";
    const steps = STEPS[unit];
    const [size, name] = steps.find(([size]) => Math.abs(value) >= size) || steps[steps.length - 1];
    const digits = String(parseFloat((value / size).toPrecision(6)));
    return name === "x" ? digits + name : `${digits} ${name}`.trim();
  }

  // Names along an axis, with so many pixels for each: they break at spaces and slashes, and long parts are cut. Where there is
  // no room beside each other they stand upright, and where there is none for all, some are left out.
  function labels(names, width) {
    const letter = 6.9;
    const longest = (parts) => Math.max(...parts.map((part) => part.length));
    const upright = longest(names.map((name) => name.slice(0, 8))) * letter > width;
    const room = upright ? 32 : Math.max(1, Math.floor(width / letter) - 1);
    const every = upright ? Math.ceil(16 / width) : 1;
    const cut = (part) => part.length > room ? `${part.slice(0, room - 1)}…` : part;
    const wrap = (name) => name.split(" ").reduce((lines, word) => {
      const last = lines[lines.length - 1];
      const joined = last === undefined ? word : `${last} ${word}`;
      return joined.length <= room || last === undefined ? [...lines.slice(0, -1), joined] : [...lines, word];
    }, []);
    const shown = names.map((name, at) => at % every ? "" : (upright ? [name] : wrap(name)).map(cut).join("\n"));
    const size = upright ? letter * longest(shown) : 18 * longest(shown.map((name) => name.split("\n")));
    return { shown, upright, size: 16 + size };
  }

  // One mark around a point, in canvas pixels; r is half its width. Points that don't count are crosses.
  function trace(context, { shape, fill }, x, y, r) {
    const lines = {
      square: [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]],
      triangle: [[0, -1.2], [1.15, 0.9], [-1.15, 0.9], [0, -1.2]],
      diamond: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0], [0, -1.3]],
      down: [[0, 1.2], [1.15, -0.9], [-1.15, -0.9], [0, 1.2]],
      bowtie: [[-1.1, -1], [1.1, 1], [1.1, -1], [-1.1, 1], [-1.1, -1]],
      plus: [[-1.2, 0], [1.2, 0], [0, 0], [0, -1.2], [0, 1.2]],
      cross: [[-1, -1], [1, 1], [0, 0], [1, -1], [-1, 1]],
    }[shape];
    context.beginPath();
    if (lines) lines.forEach(([dx, dy], at) => context[at ? "lineTo" : "moveTo"](x + dx * r, y + dy * r));
    else context.arc(x, y, r, 0, 7);
    context.globalAlpha = fill;
    if (shape !== "cross" && shape !== "plus") context.fill();
    context.globalAlpha = 1;
    // What has no inside is drawn thicker instead.
    const width = context.lineWidth;
    if (shape === "plus" && fill === 1) context.lineWidth = 2.2 * width;
    if (shape === "plus" && fill === 0) context.lineWidth = 0.6 * width;
    context.stroke();
    context.lineWidth = width;
  }

  // A line, with a gap where there is no point.
  function line(context, points) {
    context.beginPath();
    points.forEach((point, at) => { if (point) context[points[at - 1] ? "lineTo" : "moveTo"](...point); });
    context.stroke();
  }

  // Quartiles as a box, the median as a line through it, whiskers to the ends.
  function box(u, box, ratio) {
    const context = u.ctx;
    const [left, middle, right] = [-0.36, 0, 0.36].map((off) => u.valToPos(box.x + off, "x", true));
    const y = (value) => u.valToPos(value, "y", true);
    context.globalAlpha = 0.12;
    context.fillRect(left, y(box.upper), right - left, y(box.lower) - y(box.upper));
    context.globalAlpha = 0.8;
    context.strokeRect(left, y(box.upper), right - left, y(box.lower) - y(box.upper));
    line(context, [[middle, y(box.high)], [middle, y(box.upper)]]);
    line(context, [[middle, y(box.lower)], [middle, y(box.low)]]);
    context.lineWidth = 3 * ratio;
    line(context, [[left, y(box.median)], [right, y(box.median)]]);
    context.lineWidth = 1.5 * ratio;
    context.globalAlpha = 1;
  }

  // Each series has its own hatching, so that colour alone never tells.
  function bars(u, model, at, shown, places, ratio) {
    const context = u.ctx;
    const room = (u.valToPos(1, "x", true) - u.valToPos(0, "x", true)) * 0.7 / shown;
    const width = Math.min(room, 140 * ratio);
    const base = model.y.log ? u.bbox.top + u.bbox.height : u.valToPos(0, "y", true);
    places.forEach(([x, y]) => {
      const [left, top, w, h] = [x - width / 2, Math.min(y, base), width, Math.abs(base - y)];
      context.globalAlpha = 0.3;
      context.fillRect(left, top, w, h);
      context.globalAlpha = 1;
      context.save();
      context.beginPath();
      context.rect(left, top, w, h);
      context.stroke();
      context.clip();
      const step = 9 * ratio;
      for (let off = -h; off < w + h && at % 4; off += step) {
        if (at % 4 !== 2) line(context, [[left + off, top], [left + off + h, top + h]]);
        if (at % 4 !== 1) line(context, [[left + off + h, top], [left + off, top + h]]);
      }
      context.restore();
    });
  }

  return { DASHES, color, mark, seriesColor, tick, labels, trace, line, box, bars };
})();
