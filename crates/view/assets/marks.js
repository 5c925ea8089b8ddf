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

  // What an axis has to span beside its points.
  const beside = ({ reference, lines }, axis) => axis === "x" ? lines.map((one) => one.at) : reference === null ? [] : [reference];

  // Intervals of points as one band: up along one end, back along the other.
  function band(u, series, drawable) {
    const known = series.band ? drawable.filter((point) => point.low !== null && point.high !== null) : [];
    if (!known.length) return;
    const place = (point, value) => [u.valToPos(point.x, "x", true), u.valToPos(value, "y", true)];
    const ends = [...known.map((point) => place(point, point.high)), ...known.reverse().map((point) => place(point, point.low))];
    u.ctx.beginPath();
    ends.forEach((end, at) => u.ctx[at ? "lineTo" : "moveTo"](...end));
    u.ctx.globalAlpha = 0.25;
    u.ctx.fill();
    u.ctx.globalAlpha = 1;
  }

  // Parts of the horizontal axis, from its beginning: hatched, as on paper a shade alone is none.
  function areas(u, model, ratio) {
    const { ctx: context, bbox: { left, top, width, height } } = u;
    model.areas.forEach((area) => {
      const to = Math.min(u.valToPos(area.to, "x", true), left + width);
      context.save();
      context.beginPath();
      context.rect(left, top, to - left, height);
      context.clip();
      context.strokeStyle = context.fillStyle = color("series-2");
      context.lineWidth = ratio;
      context.globalAlpha = 0.08;
      context.fillRect(left, top, to - left, height);
      context.globalAlpha = 0.3;
      for (let off = -height; off < to - left; off += 10 * ratio) line(context, [[left + off, top + height], [left + off + height, top]]);
      context.restore();
    });
  }

  // Values of the horizontal axis, each with its name: below each other, so that none covers another.
  function uprights(u, model, ratio) {
    const { ctx: context, bbox: { left, top, width, height } } = u;
    context.save();
    context.fillStyle = color("text");
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    model.lines.forEach((one, at) => {
      const x = u.valToPos(one.at, "x", true);
      const y = top + (10 + 18 * at) * ratio;
      context.strokeStyle = color("text");
      context.lineWidth = 1.5 * ratio;
      context.setLineDash(DASHES[1].map((length) => length * ratio));
      line(context, [[x, top], [x, top + height]]);
      context.setLineDash([]);
      const room = context.measureText(one.name).width + 8 * ratio;
      const begin = x + room > left + width ? x - room : x;
      // A rim in the colour of the ground: what is behind the letters stays visible around them.
      context.strokeStyle = color("ground");
      context.lineWidth = 4 * ratio;
      context.strokeText(one.name, begin + 4 * ratio, y);
      context.fillText(one.name, begin + 4 * ratio, y);
    });
    context.restore();
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

  return { DASHES, color, mark, seriesColor, tick, labels, trace, line, beside, band, areas, uprights, box, bars };
})();
