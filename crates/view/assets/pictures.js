"use strict";
// Pictures on a page: canvas, legend, what is pointed at, zoom by dragging and by keyboard. What they show is in drawings.js.
(() => {
  const { Grid, Lanes, Flame, paint } = drawings;
  const { color } = marks;

  // What all have in common: a canvas as wide as the text, a line of words below, a legend of buttons.
  class Picture {
    constructor(place) {
      this.place = place;
      const figure = place.parentElement;
      this.readout = figure.querySelector(".readout");
      this.hint = this.readout.textContent;
      this.legend = figure.querySelector(".legend");
      this.canvas = document.createElement("canvas");
      place.append(this.canvas);
      this.at = null;
      place.addEventListener("keydown", (event) => { if (event.target === place && this.key(event)) event.preventDefault(); });
      place.addEventListener("blur", () => this.select(null));
      this.canvas.addEventListener("pointerleave", () => { if (!this.drag) this.select(null); });
    }

    button(text, pressed, act) {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.append(text);
      if (pressed !== null) button.setAttribute("aria-pressed", String(pressed));
      button.addEventListener("click", () => act(button));
      this.legend.append(button);
      return button;
    }

    reset(act) {
      this.back = this.button("Reset zoom", null, act);
      this.back.className = "all";
      this.back.disabled = true;
    }

    context() {
      const width = Math.max(240, Math.floor(this.place.clientWidth));
      const height = this.drawing.height(width);
      const ratio = devicePixelRatio;
      Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
      // The policy allows no style in markup; this is none.
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
      const context = this.canvas.getContext("2d");
      context.scale(ratio, ratio);
      this.area = this.drawing.area(width, height);
      return context;
    }

    outline(context, [x, y, wide, high]) {
      context.strokeStyle = color("text");
      context.lineWidth = 2;
      context.strokeRect(x - 1, y - 1, Math.max(4, wide) + 2, Math.max(4, high) + 2);
    }

    point(event) {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    select(at) {
      this.at = at;
      this.readout.textContent = at === null ? this.hint : this.words(at);
      this.draw();
    }

    // A button for each part, which hides and shows it.
    toggles(parts) {
      this.shown = parts.map(() => true);
      this.swatches = parts.map((part, index) => {
        const swatch = Object.assign(document.createElement("canvas"), { width: 32, height: 32, className: "swatch" });
        const button = this.button(swatch, true, () => {
          this.shown[index] = !this.shown[index];
          button.setAttribute("aria-pressed", String(this.shown[index]));
          this.select(null);
        });
        button.append(part.name);
        return [swatch, part];
      });
    }
  }

  // Grids and lanes: a part of the whole is looked at, and cells are selected.
  class Zoomed extends Picture {
    constructor(place, drawing) {
      super(place);
      this.drawing = drawing;
      this.view = { ...drawing.whole };
      this.toggles(drawing.parts);
      this.reset(() => this.look(drawing.whole));
      this.canvas.addEventListener("pointerdown", (event) => this.down(event));
      this.canvas.addEventListener("pointermove", (event) => this.move(event));
      this.canvas.addEventListener("pointerup", (event) => this.up(event));
      this.canvas.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
      this.draw();
      place.dataset.drawnThings = drawing.things;
    }

    draw() {
      const context = this.context();
      const { left, top, width, height } = this.area;
      this.swatches.forEach(([swatch, { color: index }]) => {
        const small = swatch.getContext("2d");
        small.clearRect(0, 0, 32, 32);
        small.fillStyle = paint(index);
        small.fillRect(0, 0, 32, 32);
      });
      context.save();
      context.beginPath();
      context.rect(0, 0, left + width + 10, top + height + 40);
      context.clip();
      this.drawing.draw(context, this.area, this.view, this.shown);
      if (this.at) this.outline(context, this.drawing.mark(this.area, this.view, this.at));
      context.restore();
      if (this.drag?.to) {
        const [x, y, wide, high] = this.dragged();
        context.globalAlpha = 0.2;
        context.fillStyle = color("focus");
        context.fillRect(x, y, wide, high);
        context.globalAlpha = 1;
      }
    }

    words(at) { return this.drawing.words(at, this.shown); }

    // From pixels to columns and rows.
    inside([x, y]) {
      const { left, top, width, height } = this.area;
      const { x0, x1, y0, y1 } = this.view;
      const bound = (share) => Math.max(0, Math.min(1, share));
      const up = this.drawing.flat ? bound((y - top) / height) : 1 - bound((y - top) / height);
      return [x0 + bound((x - left) / width) * (x1 - x0), y0 + up * (y1 - y0)];
    }

    cell(point) {
      const [x, y] = this.inside(point);
      const { x0, x1, y0, y1 } = this.view;
      const reach = [Math.ceil(4 * (x1 - x0) / this.area.width), Math.ceil(4 * (y1 - y0) / this.area.height)];
      return this.drawing.find(x, y, this.shown, reach.map((cells) => Math.min(12, cells)));
    }

    down(event) {
      this.drag = { from: this.point(event), to: null };
      this.canvas.setPointerCapture(event.pointerId);
      this.select(this.cell(this.point(event)));
    }

    move(event) {
      const to = this.point(event);
      if (this.drag && Math.hypot(to[0] - this.drag.from[0], to[1] - this.drag.from[1]) > 6) this.drag.to = to;
      this.select(this.cell(to));
    }

    dragged() {
      const { left, top, width, height } = this.area;
      const [[ax, ay], [bx, by]] = [this.drag.from, this.drag.to];
      const [x, right] = [Math.max(left, Math.min(ax, bx)), Math.min(left + width, Math.max(ax, bx))];
      // A drag along one axis keeps all of the other.
      if (this.drawing.flat || Math.abs(ay - by) < 12) return [x, top, right - x, height];
      const [y, bottom] = [Math.max(top, Math.min(ay, by)), Math.min(top + height, Math.max(ay, by))];
      return Math.abs(ax - bx) < 12 ? [left, y, width, bottom - y] : [x, y, right - x, bottom - y];
    }

    up(event) {
      const box = this.drag?.to && this.dragged();
      this.drag = null;
      if (!box) return;
      const [ax, ay] = this.inside([box[0], box[1]]);
      const [bx, by] = this.inside([box[0] + box[2], box[1] + box[3]]);
      this.look({ x0: ax, x1: bx, y0: Math.min(ay, by), y1: Math.max(ay, by) });
    }

    // Looks at a part, which is at least a cell large and inside of the whole.
    look(view) {
      const { whole, flat } = this.drawing;
      const fit = (low, high, from, to) => {
        const size = Math.min(to - from, Math.max(2, high - low));
        const begin = Math.max(from, Math.min(low, to - size));
        return [begin, begin + size];
      };
      const [x0, x1] = fit(view.x0, view.x1, whole.x0, whole.x1);
      const [y0, y1] = flat ? [whole.y0, whole.y1] : fit(view.y0, view.y1, whole.y0, whole.y1);
      this.view = { x0, x1, y0, y1 };
      this.back.disabled = x0 === whole.x0 && x1 === whole.x1 && y0 === whole.y0 && y1 === whole.y1;
      this.draw();
    }

    // Around the selected cell, else around the middle.
    zoom(by) {
      const { x0, x1, y0, y1 } = this.view;
      const [x, y] = this.at ? [this.at.x + 0.5, this.at.y + 0.5] : [(x0 + x1) / 2, (y0 + y1) / 2];
      this.look({ x0: x - (x - x0) * by, x1: x + (x1 - x) * by, y0: y - (y - y0) * by, y1: y + (y1 - y) * by });
    }

    key(event) {
      const { whole, flat } = this.drawing;
      if (event.ctrlKey || event.metaKey || event.altKey) return false;
      if (event.key === "Escape" || event.key === "0") { this.select(null); this.look(whole); return true; }
      if (event.key === "+" || event.key === "=") { this.zoom(0.5); return true; }
      if (event.key === "-") { this.zoom(2); return true; }
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step) return false;
      const { x0, x1, y0, y1 } = this.view;
      // About two hundred steps across, whatever is looked at.
      const size = [Math.max(1, Math.round((x1 - x0) / 200)), flat ? -1 : Math.max(1, Math.round((y1 - y0) / 100))];
      const now = this.at || { x: Math.floor((x0 + x1) / 2), y: Math.floor((y0 + y1) / 2) };
      const bound = (value, low, high) => Math.max(low, Math.min(high - 1, value));
      const to = { x: bound(now.x + step[0] * size[0], whole.x0, whole.x1), y: bound(now.y + step[1] * size[1], whole.y0, whole.y1) };
      const { x0: left, x1: right, y0: low, y1: high } = this.view;
      const shift = (value, from, end) => (value < from ? value - from : value + 1 > end ? value + 1 - end : 0);
      const [dx, dy] = [shift(to.x, left, right), shift(to.y, low, high)];
      if (dx || dy) this.look({ x0: left + dx, x1: right + dx, y0: low + dy, y1: high + dy });
      this.select(to);
      return true;
    }
  }

  // Boxes: one is zoomed into by a click, and the width stands for one of several weights.
  class Boxes extends Picture {
    constructor(place, drawing) {
      super(place);
      this.drawing = drawing;
      this.weight = 0;
      const buttons = drawing.parts.map((part, index) => this.button(part.name, index === 0, () => {
        this.weight = index;
        buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
        this.select(null);
      }));
      buttons.forEach((button) => button.classList.add("choice"));
      this.reset(() => this.into(null));
      this.canvas.addEventListener("pointermove", (event) => this.select(drawing.find(this.area, ...this.point(event))));
      this.canvas.addEventListener("click", (event) => this.into(drawing.find(this.area, ...this.point(event))));
      this.draw();
      place.dataset.drawnThings = drawing.things;
    }

    draw() {
      const context = this.context();
      this.drawing.draw(context, this.area, this.weight);
      if (this.at !== null) this.outline(context, this.drawing.mark(this.area, this.at));
    }

    words(at) { return this.drawing.words(at); }

    into(at) {
      this.drawing.root = at;
      this.back.disabled = at === null;
      this.draw();
    }

    // Up: to the caller. Down: to the widest that it called. Left and right: beside it.
    key(event) {
      const { boxes } = this.drawing;
      if (event.key === "Escape") { this.select(null); this.into(null); return true; }
      if (event.key === "Enter" && this.at !== null) { this.into(this.at); return true; }
      if (!["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(event.key) || !boxes.length) return false;
      const widest = (all) => all.reduce((best, at) => (best === null || boxes[at].weights[this.weight] > boxes[best].weights[this.weight] ? at : best), null);
      const roots = boxes.flatMap((box, at) => (box.below === null ? [at] : []));
      if (this.at === null) { this.select(this.drawing.root ?? widest(roots)); return true; }
      const box = boxes[this.at];
      const beside = box.below === null ? roots : boxes[box.below].inner;
      const next = beside[beside.indexOf(this.at) + (event.key === "ArrowRight" ? 1 : -1)];
      const to = event.key === "ArrowUp" ? box.below : event.key === "ArrowDown" ? widest(box.inner) : next;
      this.select(to ?? this.at);
      return true;
    }
  }

  addEventListener("DOMContentLoaded", () => {
    const pictures = [...document.querySelectorAll(".canvas")].map((place) => {
      const model = JSON.parse(document.getElementById(place.dataset.model).textContent);
      if (model.kind === "flame") return new Boxes(place, new Flame(model));
      if (model.kind === "pattern") return new (patterns.rows(Picture))(place, new patterns.Pattern(model));
      return new Zoomed(place, model.kind === "grid" ? new Grid(model) : new Lanes(model));
    });
    const redraw = () => pictures.forEach((picture) => picture.select(null));
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    matchMedia("print").addEventListener("change", redraw);
  });
})();
