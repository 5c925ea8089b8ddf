"use strict";
// What a chart is made of: the ticks' words, and marks, boxes and bars on a canvas. Shapes, dashes and hatching tell the
// series apart where colours can't.
const marks = (() => {
  const SHAPES = ["circle", "square", "triangle", "diamond", "down", "plus", "bowtie"];
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const seriesColor = (index) => color(`series-${index % 7 + 1}`);

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

  // One mark around a point, in canvas pixels; r is half its width. Points that don't count are crosses.
  function trace(context, shape, x, y, r) {
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
    context.globalAlpha = 0.35;
    if (shape !== "cross" && shape !== "plus") context.fill();
    context.globalAlpha = 1;
    context.stroke();
  }

  function line(context, points) {
    context.beginPath();
    points.forEach(([x, y], at) => context[at ? "lineTo" : "moveTo"](x, y));
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

  return { SHAPES, DASHES, color, seriesColor, tick, trace, line, box, bars };
})();
