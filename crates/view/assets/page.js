"use strict";
// Draws the charts of a page from the data beside each of them. uPlot does scales and axes; marks, legend, hover and
// keyboard are here. Every text that is shown was written by hotset: this script formats nothing but the axes' ticks.
(() => {
  const errors = [];
  const report = (what) => {
    errors.push(String(what));
    if (document.body) document.body.dataset.errors = JSON.stringify(errors);
  };
  addEventListener("error", (event) => report(event.message));
  addEventListener("unhandledrejection", (event) => report(event.reason));
  document.addEventListener("securitypolicyviolation", (event) => report(`${event.violatedDirective} ${event.blockedURI}`));

  const { DASHES, color, mark, seriesColor, tick, labels, trace, line, beside, band, areas, uprights, box, bars } = marks;
  // Pixels within which a mark is meant.
  const NEAR = 40;
  // From so many series on, one button hides or shows all of them.
  const MANY = 7;

  class Chart {
    constructor(plot) {
      this.plot = plot;
      this.model = JSON.parse(document.getElementById(plot.dataset.model).textContent);
      this.readout = plot.parentElement.querySelector(".readout");
      this.hint = this.readout.textContent;
      this.hit = Object.assign(document.createElement("div"), { className: "hit", hidden: true });
      this.shown = this.model.series.map(() => true);
      this.at = null;
      this.legend(plot.parentElement.querySelector(".legend"));
      this.draw();
      plot.addEventListener("keydown", (event) => this.key(event));
      plot.addEventListener("blur", () => this.select(null));
    }

    // All numbers that an axis has to span: points, their intervals, and boxes.
    span(axis) {
      const values = [];
      this.model.series.forEach((series, at) => {
        if (!this.shown[at]) return;
        series.points.forEach((point) => {
          if (axis === "x") values.push(point.x);
          else values.push(point.y, point.low ?? point.y, point.high ?? point.y);
        });
        if (axis === "y") series.boxes.forEach((box) => values.push(box.low, box.high));
      });
      values.push(...beside(this.model, axis));
      const usable = values.filter((value) => Number.isFinite(value) && (!this.model[axis].log || value > 0));
      return usable.length ? [Math.min(...usable), Math.max(...usable)] : [1, 2];
    }

    range(axis) {
      const { names, log } = this.model[axis];
      const [low, high] = this.span(axis);
      if (names.length) return [-0.5, names.length - 0.5];
      if (this.model[axis].unit === "share" && low >= 0 && high <= 1) return [-0.04, 1.04];
      if (log) return [low / (high / low) ** 0.08 / 1.02, high * (high / low) ** 0.08 * 1.02];
      if (axis === "y" && (this.model.kind === "bars" || this.model.y.zero)) return [Math.min(0, low), high * (1.08 + 0.1 * this.model.lines.length) || 1];
      const room = (high - low) * (axis === "x" ? 0.03 : 0.08) || Math.abs(high) * 0.1 || 1;
      return [low >= 0 && low < (high - low) / 2 ? Math.min(low, axis === "x" ? -room / 2 : 0) : low - room, high + room];
    }

    axis(axis) {
      const { title, unit, names, log } = this.model[axis];
      const side = axis === "x" ? 2 : 3;
      const style = {
        scale: axis, side, label: title || null, filter: (_, splits) => splits, stroke: color("text"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
        labelSize: 20, grid: { stroke: color("line"), width: 1, show: !names.length }, ticks: { stroke: color("line"), width: 1 },
      };
      if (names.length) {
        const { shown, upright, size } = labels(names, (this.plot.clientWidth - 80) / names.length);
        style.splits = () => names.map((_, at) => at);
        style.values = () => shown;
        style.rotate = upright ? -90 : 0;
        style.size = size;
        this.below = style.size;
      } else {
        style.values = (_, splits) => splits.map((value) => tick(value, unit));
        if (unit === "bytes" && !log) style.incrs = Array.from({ length: 60 }, (_, power) => 2 ** power);
        if (axis === "y") style.size = 68;
        else style.space = 80;
      }
      if (log && !names.length) style.splits = (u) => this.logTicks(u, axis);
      return style;
    }

    // Powers of ten (of two for bytes), with 2 and 5 between them while there are few.
    logTicks(u, axis) {
      const { min, max } = u.scales[axis];
      const base = this.model[axis].unit === "bytes" ? 2 : 10;
      const powers = (from, to, steps) => {
        const found = [];
        for (let power = from; power <= to; power++) steps.forEach((step) => found.push(step * base ** power));
        return found.filter((value) => value >= min && value <= max);
      };
      const [from, to] = [Math.floor(Math.log(min) / Math.log(base)), Math.ceil(Math.log(max) / Math.log(base))];
      const most = axis === "x" ? u.width / 72 : u.height / 28;
      if (max < 3 * min) return this.evenTicks(min, max, Math.min(most, 6));
      const fine = base === 10 ? [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1]] : [[1]];
      const ticks = fine.map((steps) => powers(from, to, steps)).find((found) => found.length <= most) || powers(from, to, [1]);
      const skip = Math.ceil(ticks.length / most);
      return ticks.filter((_, at) => at % skip === 0);
    }

    // Within half a decade a logarithm is nearly a straight line.
    evenTicks(min, max, most) {
      const power = 10 ** Math.floor(Math.log10((max - min) / most));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((width) => width * most >= max - min);
      const ticks = [];
      for (let at = Math.ceil(min / step); at * step <= max; at++) ticks.push(at * step);
      return ticks;
    }

    draw() {
      this.chart?.destroy();
      const { model, plot } = this;
      const scale = (axis) => ({ time: false, distr: model[axis].log ? 3 : 1, log: 10, range: () => this.range(axis) });
      const facets = [{ scale: "x", auto: true }, { scale: "y", auto: true }];
      const series = model.series.map((one, at) => ({
        facets, label: one.name, show: this.shown[at], points: { show: false }, paths: (u, index) => this.paint(u, index - 1),
      }));
      this.drawn = 0;
      const axes = [this.axis("x"), this.axis("y")];
      this.chart = new uPlot({
        mode: 2, ...this.size(), legend: { show: false }, cursor: { show: false }, padding: [12, 20, 0, 0],
        scales: { x: scale("x"), y: scale("y") }, axes, series: [null, ...series],
        hooks: { drawClear: [(u) => { this.drawn = 0; areas(u, model, devicePixelRatio); }], draw: [(u) => this.finish(u)] },
      }, [null, ...model.series.map((one) => [one.points.map((point) => point.x), one.points.map((point) => point.y)])], plot);
      this.chart.over.append(this.hit);
      this.chart.over.addEventListener("pointermove", (event) => this.hover(event));
      this.chart.over.addEventListener("pointerdown", (event) => this.hover(event));
      this.chart.over.addEventListener("pointerleave", () => this.select(null));
    }

    size() {
      const width = Math.max(240, Math.floor(this.plot.clientWidth));
      return { width, height: (width < 600 ? 300 : 360) + Math.max(0, (this.below || 0) - 52) };
    }

    // Where a point stands: bars of several series stand beside each other, and so do points in the place of a name.
    place(u, at, point, canvas = true) {
      let x = point.x;
      if (this.model.kind === "bars" || (this.model.kind === "points" && this.model.x.names.length)) {
        const all = this.shown.flatMap((shown, index) => shown ? [index] : []);
        x += (all.indexOf(at) - (all.length - 1) / 2) * 0.8 / all.length;
      }
      return [u.valToPos(x, "x", canvas), u.valToPos(point.y, "y", canvas)];
    }

    paint(u, at) {
      const { model } = this;
      const series = model.series[at];
      const context = u.ctx;
      const ratio = devicePixelRatio;
      const isDrawable = (point) => Number.isFinite(point.y) && (!model.y.log || point.y > 0) && (!model.x.log || point.x > 0);
      const drawable = series.points.filter(isDrawable);
      const places = drawable.map((point) => this.place(u, at, point));
      context.save();
      context.beginPath();
      context.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      context.clip();
      context.strokeStyle = context.fillStyle = seriesColor(at);
      context.lineWidth = 1.5 * ratio;
      series.boxes.forEach((one) => box(u, one, ratio));
      band(u, series, drawable);
      if (model.kind === "bars") bars(u, model, at, this.shown.filter(Boolean).length, places, ratio);
      if (model.kind === "lines") {
        context.setLineDash(DASHES[at % DASHES.length].map((length) => length * ratio));
        // No line leads over a point that can't be drawn, such as none on a logarithmic axis.
        let next = 0;
        line(context, series.points.map((point) => (isDrawable(point) ? places[next++] : null)));
        context.setLineDash([]);
      }
      places.forEach(([x, y], index) => {
        const point = drawable[index];
        if (!series.band && point.low !== null && point.high !== null) {
          const [low, high] = [point.low, point.high].map((value) => u.valToPos(value, "y", true));
          line(context, [[x, low], [x, high]]);
          [low, high].forEach((end) => line(context, [[x - 5 * ratio, end], [x + 5 * ratio, end]]));
        }
        if (model.kind !== "bars") trace(context, point.aside ? { shape: "cross" } : mark(at), x, y, 4 * ratio);
        const { left, top, width, height } = u.bbox;
        if (x >= left && x <= left + width && y >= top && y <= top + height) this.drawn += 1;
      });
      context.restore();
      return null;
    }

    finish(u) {
      uprights(u, this.model, devicePixelRatio);
      if (this.model.reference !== null) {
        const y = u.valToPos(this.model.reference, "y", true);
        u.ctx.save();
        u.ctx.strokeStyle = color("text");
        u.ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
        line(u.ctx, [[u.bbox.left, y], [u.bbox.left + u.bbox.width, y]]);
        u.ctx.restore();
      }
      this.plot.dataset.drawnPoints = this.drawn;
    }

    legend(list) {
      this.swatches = this.model.series.map((series, at) => {
        const button = Object.assign(document.createElement("button"), { type: "button" });
        button.setAttribute("aria-pressed", "true");
        const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 32 });
        button.append(canvas, series.name);
        button.addEventListener("click", () => {
          this.shown[at] = !this.shown[at];
          button.setAttribute("aria-pressed", String(this.shown[at]));
          this.select(null);
          this.draw();
        });
        list.prepend(...list.querySelectorAll("button"), button);
        return canvas;
      });
      this.sample();
      if (this.shown.length < MANY) return;
      const all = Object.assign(document.createElement("button"), { type: "button", className: "all", textContent: "All" });
      all.setAttribute("aria-label", "Show all series, or none");
      all.addEventListener("click", () => {
        const show = this.shown.includes(false);
        this.shown.fill(show);
        list.querySelectorAll("button[aria-pressed]").forEach((button) => button.setAttribute("aria-pressed", String(show)));
        this.select(null);
        this.draw();
      });
      list.prepend(all);
    }

    sample() {
      this.swatches.forEach((canvas, at) => {
        const context = canvas.getContext("2d");
        context.clearRect(0, 0, 64, 32);
        context.strokeStyle = context.fillStyle = seriesColor(at);
        context.lineWidth = 3;
        if (this.model.kind === "bars") {
          const fake = { ctx: context, valToPos: (value, axis) => axis === "x" ? value * 60 : 30, bbox: { top: 0, height: 30 } };
          bars(fake, { y: { log: false } }, at, 1, [[32, 3]], 2);
          return;
        }
        context.setLineDash(DASHES[at % DASHES.length].map((length) => length * 1.5));
        if (this.model.kind === "lines") line(context, [[0, 16], [64, 16]]);
        context.setLineDash([]);
        trace(context, mark(at), 32, 16, 9);
      });
    }

    hover(event) {
      const area = this.chart.over.getBoundingClientRect();
      const [x, y] = [event.clientX - area.left, event.clientY - area.top];
      let best = null;
      this.model.series.forEach((series, at) => this.shown[at] && series.points.forEach((point, index) => {
        const [px, py] = this.place(this.chart, at, point, false);
        const inBar = this.model.kind === "bars" && y >= py;
        const far = inBar ? Math.abs(px - x) : Math.hypot(px - x, py - y);
        if (far < NEAR && (!best || far < best.far)) best = { at, index, far };
      }));
      this.select(best);
    }

    select(at) {
      this.at = at;
      this.hit.hidden = !at;
      const point = at && this.model.series[at.at].points[at.index];
      this.readout.textContent = point ? point.text : this.hint;
      if (!point) return;
      const [x, y] = this.place(this.chart, at.at, point, false);
      Object.assign(this.hit.style, { left: `${x}px`, top: `${y}px` });
    }

    // Left and right: along a series. Up and down: to another series. Home, End, Escape.
    key(event) {
      const usable = this.shown.flatMap((shown, at) => shown && this.model.series[at].points.length ? [at] : []);
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity, ArrowUp: 0, ArrowDown: 0, Escape: 0 }[event.key];
      if (step === undefined || !usable.length || event.target !== this.plot) return;
      event.preventDefault();
      if (event.key === "Escape") return this.select(null);
      const now = this.at && usable.includes(this.at.at) ? this.at : null;
      const turn = { ArrowUp: -1, ArrowDown: 1 }[event.key] || 0;
      const row = now ? (usable.indexOf(now.at) + turn + usable.length) % usable.length : 0;
      const last = this.model.series[usable[row]].points.length - 1;
      const index = now ? now.index + step : event.key === "End" ? last : 0;
      this.select({ at: usable[row], index: Math.max(0, Math.min(last, index)) });
    }
  }

  addEventListener("DOMContentLoaded", () => {
    document.body.dataset.errors = JSON.stringify(errors);
    const charts = [...document.querySelectorAll(".plot")].map((plot) => new Chart(plot));
    const redraw = () => charts.forEach((chart) => { chart.select(null); chart.sample(); chart.draw(); });
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    matchMedia("print").addEventListener("change", redraw);
    const folded = [...document.querySelectorAll("details.table")].filter((details) => !details.open);
    addEventListener("beforeprint", () => folded.forEach((details) => { details.open = true; }));
    addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
  });
})();
