"use strict";
// What pictures are made of: a grid of requests by offset and time, lanes of threads over time, and boxes of call sites. Each
// reads its data, draws the part of it that is looked at, and tells in words what is at a place.
const drawings = (() => {
  const { color, tick } = marks;
  const paint = (index) => (index ? color(`series-${index}`) : color("line"));
  const near = (value, unit) => tick(value, unit).replace(/^[\d.]+/, (digits) => String(Number(Number(digits).toPrecision(4))));
  const many = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  // Round places between two ends: steps of 1, 2 and 5, for bytes powers of two.
  function ticks(from, to, most, unit) {
    const rough = (to - from) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = unit === "bytes" ? 2 ** Math.ceil(Math.log2(rough)) : [1, 2, 5, 10].map((factor) => factor * power).find((width) => width >= rough);
    const found = [];
    for (let at = Math.ceil(from / step); at * step <= to; at++) found.push(at * step);
    return found;
  }

  // Lines and words below and at the left of an area, for what it shows of both axes.
  function axes(context, area, x, y) {
    const { left, top, width, height } = area;
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = color("text");
    context.strokeStyle = color("line");
    context.lineWidth = 1;
    context.beginPath();
    context.textAlign = "center";
    context.textBaseline = "top";
    ticks(x.from, x.to, width / 90, "ns").forEach((value) => {
      const at = left + (value - x.from) / (x.to - x.from) * width;
      context.moveTo(at, top);
      context.lineTo(at, top + height + 4);
      context.fillText(near(value, "ns"), Math.min(at, left + width - 14), top + height + 7);
    });
    context.textAlign = "right";
    context.textBaseline = "middle";
    if (y) ticks(y.from, y.to, height / 36, "bytes").forEach((value) => {
      const at = top + height - (value - y.from) / (y.to - y.from) * height;
      context.moveTo(left - 4, at);
      context.lineTo(left + width, at);
      context.fillText(near(value, "bytes"), left - 7, at);
    });
    context.stroke();
  }

  // Pixels that a cell has at least: the fewer of a kind, the larger, as nobody would see a handful among thousands.
  const leastOf = (cells) => [[50, 5], [400, 4], [4000, 3]].find(([most]) => cells < most)?.[1] || 2;

  // Requests of a file. A cell with more of them is more opaque, and none is smaller than can be seen.
  class Grid {
    constructor(model) {
      this.model = model;
      this.parts = model.layers.map((layer) => ({ name: layer.name, color: layer.color }));
      this.things = 0;
      this.layers = model.layers.map((layer) => {
        const cells = [];
        for (let at = 0, place = 0; at < layer.cells.length; at += 3) {
          place += layer.cells[at];
          cells.push([Math.floor(place / model.rows), place % model.rows, layer.cells[at + 1], layer.cells[at + 2]]);
        }
        this.things += cells.length;
        return { cells, at: new Map(cells.map((cell) => [cell[0] * model.rows + cell[1], cell])), most: cells.reduce((most, cell) => Math.max(most, cell[2]), 0), least: leastOf(cells.length) };
      });
      this.all = new Map();
      this.layers.forEach((layer) => layer.at.forEach((cell, place) => this.all.set(place, (this.all.get(place) || 0) + cell[2])));
      this.whole = { x0: 0, x1: model.columns, y0: 0, y1: model.rows };
    }
    height(width) { return width < 600 ? 300 : 380; }
    area(width, height) { return { left: 64, top: 12, width: width - 64 - 10, height: height - 12 - 28 }; }

    draw(context, area, view, shown) {
      const { from, step, bytes } = this.model;
      axes(context, area, { from: from + view.x0 * step, to: from + view.x1 * step }, { from: view.y0 * bytes, to: view.y1 * bytes });
      const [wide, high] = [area.width / (view.x1 - view.x0), area.height / (view.y1 - view.y0)];
      // The first layer lies above the others.
      for (let index = this.layers.length - 1; index >= 0; index--) {
        if (!shown[index]) continue;
        const { cells, most, least } = this.layers[index];
        const [w, h] = [Math.max(least, wide), Math.max(least, high)];
        context.fillStyle = paint(this.parts[index].color);
        for (const [column, row, requests] of cells) {
          if (column + 1 < view.x0 || column > view.x1 || row + 1 < view.y0 || row > view.y1) continue;
          // Where kinds share a cell, the fewer lets the others shine through.
          const share = requests / this.all.get(column * this.model.rows + row);
          context.globalAlpha = (0.5 + 0.5 * Math.log1p(requests) / Math.log1p(most)) * (0.3 + 0.7 * share);
          context.fillRect(area.left + (column - view.x0) * wide, area.top + area.height - (row + 1 - view.y0) * high, w, h);
        }
      }
      context.globalAlpha = 1;
    }

    // What is in a cell, or in the nearest one beside it that holds something.
    find(x, y, shown, reach = [0, 0]) {
      const { columns, rows } = this.model;
      const [column, row] = [Math.min(columns - 1, Math.floor(x)), Math.min(rows - 1, Math.floor(y))];
      let best = null;
      for (let dx = -reach[0]; dx <= reach[0]; dx++) for (let dy = -reach[1]; dy <= reach[1]; dy++) {
        const far = Math.hypot(dx / (reach[0] || 1), dy / (reach[1] || 1));
        const place = (column + dx) * rows + row + dy;
        const inside = column + dx >= 0 && column + dx < columns && row + dy >= 0 && row + dy < rows;
        const full = inside && this.layers.some((layer, at) => shown[at] && layer.at.has(place));
        if (full && (!best || far < best.far)) best = { x: column + dx, y: row + dy, far };
      }
      return best || { x: column, y: row };
    }

    words({ x, y }, shown) {
      const { from, step, bytes, rows } = this.model;
      const place = `${near(from + x * step, "ns")} to ${near(from + (x + 1) * step, "ns")}, offset ${near(y * bytes, "bytes")} to ${near((y + 1) * bytes, "bytes")}`;
      const found = this.layers.flatMap((layer, at) => {
        const cell = shown[at] && layer.at.get(x * rows + y);
        return cell ? [`${this.parts[at].name}: ${many(cell[2], "request")}, ${many(cell[3], "page")}`] : [];
      });
      return `${place}: ${found.join("; ") || "no requests"}`;
    }

    mark(area, view, { x, y }) {
      const [wide, high] = [area.width / (view.x1 - view.x0), area.height / (view.y1 - view.y0)];
      return [area.left + (x - view.x0) * wide, area.top + area.height - (y + 1 - view.y0) * high, wide, high];
    }
  }

  // Threads over time: stacked shares, each pixel the mean of its columns.
  class Lanes {
    constructor(model) {
      this.model = model;
      this.parts = model.parts;
      this.lanes = model.lanes.map((lane) => {
        const columns = [];
        const each = model.parts.length;
        for (let at = 0; at < lane.runs.length; at += each + 1) {
          const column = lane.runs.slice(at + 1, at + 1 + each);
          for (let times = 0; times < lane.runs[at]; times++) columns.push(column);
        }
        return columns;
      });
      this.things = this.lanes.reduce((sum, lane) => sum + lane.length, 0);
      this.whole = { x0: 0, x1: model.columns, y0: 0, y1: this.lanes.length };
      this.flat = true;
    }
    height() { return this.lanes.length * 38 + 36; }
    area(width, height) { return { left: 8, top: 8, width: width - 18, height: height - 36 }; }

    draw(context, area, view, shown) {
      const { from, step } = this.model;
      axes(context, area, { from: from + view.x0 * step, to: from + view.x1 * step });
      const wide = area.width / (view.x1 - view.x0);
      this.lanes.forEach((lane, at) => {
        const top = area.top + at * 38 + 16;
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.fillStyle = color("text");
        context.fillText(this.model.lanes[at].name, area.left, top - 8, area.width);
        for (let x = 0; x < area.width; x++) {
          const first = Math.floor(view.x0 + x / wide);
          const last = Math.max(first + 1, Math.floor(view.x0 + (x + 1) / wide));
          let base = top + 19;
          this.parts.forEach((part, index) => {
            if (!shown[index]) return;
            let sum = 0;
            for (let column = first; column < last; column++) sum += lane[column]?.[index] || 0;
            const high = 19 * sum / (last - first) / 100;
            if (high === 0) return;
            context.fillStyle = paint(part.color);
            context.globalAlpha = part.color ? 1 : 0.55;
            context.fillRect(area.left + x, base - high, 1.2, high);
            base -= high;
          });
        }
        context.globalAlpha = 1;
      });
    }

    find(x, y) {
      return { x: Math.min(this.model.columns - 1, Math.floor(x)), y: Math.min(this.lanes.length - 1, Math.floor(y)) };
    }

    words({ x, y }) {
      const { from, step, lanes } = this.model;
      const column = this.lanes[y]?.[x] || [];
      const found = this.parts.flatMap((part, at) => (column[at] ? [`${part.name} ${column[at]} %`] : []));
      return `${lanes[y]?.name}, ${near(from + x * step, "ns")} to ${near(from + (x + 1) * step, "ns")}: ${found.join(", ") || "not running, or not known"}`;
    }

    mark(area, view, { x, y }) {
      const wide = area.width / (view.x1 - view.x0);
      return [area.left + (x - view.x0) * wide, area.top + y * 38 + 15, wide, 21];
    }
  }

  // Call sites: the outermost call at the top, what it called below it, as wide as its share.
  class Flame {
    constructor(model) {
      this.model = model;
      this.parts = model.weights.map((weight) => ({ name: weight.name, color: 0 }));
      this.boxes = model.boxes.map(([name, about, below, weights]) => ({ name, about, below, weights, inner: [], depth: 0 }));
      this.boxes.forEach((box, at) => {
        if (box.below === null) return;
        box.depth = this.boxes[box.below].depth + 1;
        this.boxes[box.below].inner.push(at);
      });
      this.things = this.boxes.length;
      this.depth = Math.max(0, ...this.boxes.map((box) => box.depth)) + 1;
      this.root = null;
    }
    height() { return this.depth * 22 + 12; }
    area(width, height) { return { left: 4, top: 6, width: width - 8, height: height - 12 }; }

    // Where each box stands, from 0 to 1; boxes beside the one that is zoomed into have no place.
    places(weight) {
      const places = new Map();
      const zoomed = this.root === null ? null : this.boxes[this.root];
      const put = (at, left, scale) => {
        const box = this.boxes[at];
        places.set(at, [left, box.weights[weight] * scale]);
        box.inner.forEach((inner) => { put(inner, left, scale); left += this.boxes[inner].weights[weight] * scale; });
      };
      if (zoomed) {
        for (let at = zoomed.below; at !== null; at = this.boxes[at].below) places.set(at, [0, 1]);
        put(this.root, 0, 1 / (zoomed.weights[weight] || 1));
      } else {
        let left = 0;
        const scale = 1 / (this.model.totals[weight] || 1);
        this.boxes.forEach((box, at) => { if (box.below === null) { put(at, left, scale); left += box.weights[weight] * scale; } });
      }
      return places;
    }

    draw(context, area, weight) {
      this.drawn = this.places(weight);
      context.font = "12px system-ui, sans-serif";
      context.textAlign = "left";
      context.textBaseline = "middle";
      this.drawn.forEach(([left, share], at) => {
        const [x, y, wide, high] = this.mark(area, at);
        if (wide < 0.3) return;
        const box = this.boxes[at];
        // Code of a module has one colour, whatever that is: the words tell more.
        context.fillStyle = paint([...box.about].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) % 6 + 1);
        context.globalAlpha = 0.25;
        context.fillRect(x, y, Math.max(1, wide - 1), high);
        context.globalAlpha = 1;
        if (wide < 30) return;
        context.fillStyle = color("text");
        const fits = (text) => context.measureText(text).width <= wide - 10;
        let text = box.name;
        for (let letters = text.length - 1; letters > 0 && !fits(text); letters--) text = `${box.name.slice(0, letters)}…`;
        if (fits(text)) context.fillText(text, x + 5, y + high / 2);
      });
    }

    mark(area, at) {
      const [left, share] = this.drawn.get(at) || [0, 0];
      return [area.left + left * area.width, area.top + this.boxes[at].depth * 22, share * area.width, 21];
    }

    find(area, x, y) {
      for (const at of this.drawn.keys()) {
        const [left, top, wide, high] = this.mark(area, at);
        if (x >= left && x < left + wide && y >= top && y < top + high + 1) return at;
      }
      return null;
    }

    words(at) {
      const { name, about, weights } = this.boxes[at];
      const parts = this.model.weights.map((weight, index) => {
        const share = weights[index] / (this.model.totals[index] || 1);
        return `${weight.name} ${near(weights[index], weight.unit)} (${(100 * share).toFixed(1)} %)`;
      });
      return `${name}${about ? `, ${about}` : ""}: ${parts.join(", ")}`;
    }
  }

  return { Grid, Lanes, Flame, paint, near };
})();
