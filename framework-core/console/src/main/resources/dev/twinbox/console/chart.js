// A chart that moves with time. uPlot is part of the server's jar.
import uPlot from "./uplot.js";

const KEPT = 300;
const COLOURS = ["#0969da", "#bf5600"]; // at least 3:1 on light and dark ground

/** A chart of these series. add() takes one value for each. */
export class Chart {
  constructor(root, labels) {
    this.data = [[], ...labels.map(() => [])];
    this.root = root;
    const axis = { stroke: () => getComputedStyle(root).color, grid: { stroke: "#88888844" }, ticks: { stroke: "#88888888" } };
    this.plot = new uPlot({
      ...this.size(),
      series: [{ label: "Time" }, ...labels.map((label, index) => (
        { label, stroke: COLOURS[index], width: 2, scale: index === 0 ? "y" : "right" }))],
      scales: { x: { range: Chart.time }, y: { range: Chart.range }, right: { range: Chart.range } },
      axes: [axis, { ...axis, size: 60 }, { ...axis, size: 60, side: 1, scale: "right", grid: { show: false } }],
    }, this.data, root);
    new ResizeObserver(() => this.plot.setSize(this.size())).observe(root);
  }

  static range(plot, least, most) {
    return [0, Math.max(1, (most ?? 0) * 1.1)];
  }

  /** A minute at least. */
  static time(plot) {
    const times = plot.data[0];
    const end = times.at(-1) ?? Date.now() / 1000;
    return [Math.min(times[0] ?? end, end - 60), end];
  }

  size() {
    return { width: Math.max(260, this.root.clientWidth), height: 240 };
  }

  add(...values) {
    [Date.now() / 1000, ...values].forEach((value, index) => {
      this.data[index].push(value);
      if (this.data[index].length > KEPT) {
        this.data[index].shift();
      }
    });
    this.plot.setData(this.data);
  }
}
