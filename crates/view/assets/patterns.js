"use strict";
// Requests before and after a change: two rows of marks on the same lanes, a mark a request, in their order. Below them, how long
// all requests of the recording took on each side.
const patterns = (() => {
  const { paint, near } = drawings;
  const { color, trace } = marks;
  const FONT = "12px system-ui, sans-serif";
  const [TITLE, GAP, BAR] = [22, 14, 24];

  class Pattern {
    constructor(model) {
      this.model = model;
      this.parts = model.kinds;
      this.things = model.sides.reduce((sum, side) => sum + side.marks.length, 0);
      this.most = Math.max(1, ...model.sides.map((side) => side.marks.length));
      // A lane shows the bytes that are asked for as recorded; a request of the change may go beyond them.
      this.ranges = model.lanes.map((_, lane) => {
        const of = (side) => side.marks.filter((mark) => mark[1] === lane && mark[2] !== null && mark[3] > 0);
        const own = model.sides.map(of).find((found) => found.length) || [];
        const ends = own.flatMap(([, , offset, bytes]) => [offset, offset + bytes]);
        return ends.length ? [Math.min(...ends), Math.max(...ends)] : null;
      });
    }

    lane() { return Math.max(22, Math.min(110, Math.floor(220 / this.model.lanes.length))); }
    row() { return TITLE + this.model.lanes.length * this.lane() + GAP; }
    height() {
      const times = this.model.times.length;
      return this.model.sides.length * this.row() + 18 + (times ? TITLE + GAP + times * (BAR + 4) : 0);
    }
    area(width, height) {
      const left = Math.round(Math.min(210, width * 0.28));
      return { left, top: 4, width: width - left - 8, height };
    }
    step(area) { return Math.min(36, area.width / this.most); }

    // Where a mark is: left, top, width, height.
    mark(area, { side, index }) {
      const [kind, lane, offset, bytes] = this.model.sides[side].marks[index];
      const [high, step] = [this.lane(), this.step(area)];
      const [left, wide] = [area.left + index * step, Math.max(2, step - 1)];
      const top = area.top + side * this.row() + TITLE + lane * high;
      const range = this.ranges[lane];
      const { shape } = this.model.kinds[kind];
      if (!range || offset === null || shape !== "box") return [left, top + 2, wide, high - 4];
      const room = high - 6;
      const at = (byte) => top + 3 + room - Math.max(0, Math.min(1, (byte - range[0]) / (range[1] - range[0]))) * room;
      const [low, up] = [at(offset), at(offset + bytes)];
      const tall = Math.max(3, low - up);
      return [left, Math.max(top + 3, Math.min(up, top + 3 + room - tall)), wide, tall];
    }

    text(context, words, x, y, width) {
      const fits = (text) => context.measureText(text).width <= width;
      let shown = words;
      // The end of a path tells more than its beginning.
      for (let from = 1; !fits(shown) && from < words.length; from++) shown = `…${words.slice(from)}`;
      context.fillText(shown, x, y);
    }

    draw(context, area, shown) {
      this.model.sides.forEach((side, at) => this.side(context, area, side, at, shown));
      context.font = FONT;
      context.fillStyle = color("quiet");
      context.textAlign = "left";
      context.fillText("requests in their order →", area.left, area.top + this.model.sides.length * this.row() - 4);
      if (this.model.times.length) this.times(context, area);
    }

    side(context, area, side, at, shown) {
      const [high, top] = [this.lane(), area.top + at * this.row()];
      context.textBaseline = "middle";
      context.textAlign = "left";
      context.font = `600 ${FONT}`;
      context.fillStyle = color("text");
      context.fillText(side.name, 0, top + TITLE / 2);
      context.font = FONT;
      this.model.lanes.forEach((name, lane) => {
        const y = top + TITLE + lane * high;
        context.fillStyle = color("panel");
        context.fillRect(area.left, y + 1, area.width, high - 2);
        context.fillStyle = color("text");
        context.textAlign = "right";
        this.text(context, name, area.left - 8, y + high / 2, area.left - 10);
        const range = this.ranges[lane];
        if (!range || high < 50) return;
        context.fillStyle = color("quiet");
        context.fillText(near(range[1], "bytes"), area.left - 8, y + 8);
        context.fillText(near(range[0], "bytes"), area.left - 8, y + high - 8);
      });
      side.marks.forEach(([kind], index) => {
        if (shown[kind]) this.one(context, this.model.kinds[kind], this.mark(area, { side: at, index }));
      });
    }

    one(context, { color: index, shape }, [x, y, wide, high]) {
      context.fillStyle = context.strokeStyle = paint(index);
      context.lineWidth = 1.5;
      if (shape === "box") context.fillRect(x, y, wide, high);
      else if (shape === "wall") context.fillRect(x + wide * 0.2, y, Math.max(1.5, wide * 0.6), high);
      else trace(context, { shape, fill: 0.35 }, x + wide / 2, y + high / 2, Math.max(2.5, Math.min(6, wide / 2)));
    }

    times(context, area) {
      const { times, timesLabel } = this.model;
      const top = area.top + this.model.sides.length * this.row() + 18;
      const most = Math.max(...times.map((time) => Math.max(time.ns, time.interval?.[1] || 0)), 1);
      // Words stand behind the bars.
      const room = Math.max(40, area.width - 190);
      const at = (ns) => area.left + ns / most * room;
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.font = `600 ${FONT}`;
      context.fillStyle = color("text");
      context.fillText(timesLabel, 0, top + TITLE / 2);
      context.font = FONT;
      times.forEach((time, index) => {
        const y = top + TITLE + index * (BAR + 4);
        context.fillStyle = color("text");
        context.textAlign = "right";
        this.text(context, time.name, area.left - 8, y + BAR / 2, area.left - 10);
        context.fillStyle = color(index ? "series-3" : "series-7");
        context.globalAlpha = 0.55;
        context.fillRect(area.left, y, Math.max(1, at(time.ns) - area.left), BAR);
        context.globalAlpha = 1;
        const end = time.interval ? at(time.interval[1]) : at(time.ns);
        if (time.interval) this.whisker(context, time.interval.map(at), y + BAR / 2);
        context.fillStyle = color("text");
        context.textAlign = "left";
        context.fillText(time.text, Math.max(end, at(time.ns)) + 8, y + BAR / 2);
      });
    }

    whisker(context, [low, high], y) {
      context.strokeStyle = color("text");
      context.lineWidth = 1.5;
      context.beginPath();
      [[low, y - 5, low, y + 5], [high, y - 5, high, y + 5], [low, y, high, y]].forEach(([ax, ay, bx, by]) => {
        context.moveTo(ax, ay);
        context.lineTo(bx, by);
      });
      context.stroke();
    }

    // The request of a row that is nearest to a place.
    find(area, x, y) {
      const side = Math.floor((y - area.top) / this.row());
      const all = this.model.sides[side]?.marks.length;
      if (!all || x < area.left - 4) return null;
      return { side, index: Math.max(0, Math.min(all - 1, Math.floor((x - area.left) / this.step(area)))) };
    }

    words({ side, index }) {
      const [kind, lane, offset, bytes, call] = this.model.sides[side].marks[index];
      const size = bytes === null ? "" : `, ${bytes.toLocaleString("en")} B`;
      const where = offset === null ? "" : ` at offset ${offset.toLocaleString("en")}`;
      return `Request ${index + 1} ${side ? "with the change" : "as recorded"}: ${this.model.kinds[kind].name} (${call})${size}${where}, ${this.model.lanes[lane]}`;
    }
  }

  // Two rows of requests: one is selected, and kinds can be hidden.
  const rows = (Picture) => class Rows extends Picture {
    constructor(place, drawing) {
      super(place);
      this.drawing = drawing;
      this.toggles(drawing.parts);
      this.canvas.addEventListener("pointermove", (event) => this.select(drawing.find(this.area, ...this.point(event))));
      this.canvas.addEventListener("pointerdown", (event) => this.select(drawing.find(this.area, ...this.point(event))));
      this.draw();
      place.dataset.drawnThings = drawing.things;
    }

    draw() {
      const context = this.context();
      this.swatches.forEach(([swatch, part]) => {
        const small = swatch.getContext("2d");
        small.clearRect(0, 0, 32, 32);
        this.drawing.one(small, part, [4, 4, 24, 24]);
      });
      this.drawing.draw(context, this.area, this.shown);
      if (this.at) this.outline(context, this.drawing.mark(this.area, this.at));
    }

    words(at) { return this.drawing.words(at); }

    // Left and right: along a row. Up and down: to the other.
    key(event) {
      const { sides } = this.drawing.model;
      if (event.key === "Escape") { this.select(null); return true; }
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] }[event.key];
      const full = sides.findIndex((side) => side.marks.length);
      if (!step || full < 0 || event.ctrlKey || event.metaKey || event.altKey) return false;
      const now = this.at || { side: full, index: step[0] === Infinity ? 0 : -1 };
      const side = sides[now.side + step[1]]?.marks.length ? now.side + step[1] : now.side;
      const bound = (index) => Math.max(0, Math.min(sides[side].marks.length - 1, index));
      this.select({ side, index: bound(now.index + step[0]) });
      return true;
    }
  };

  return { Pattern, rows };
})();
