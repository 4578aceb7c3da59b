"use strict";
// Draws one chart for each GPU of the page's data. Names come from recordings: they are
// only ever handed over as text.
(function () {
  var reports = JSON.parse(document.getElementById("data").textContent);
  var words = JSON.parse(document.querySelector("main").dataset.words);
  var say = function (id) { return Object.prototype.hasOwnProperty.call(words, id) ? words[id] : id; };
  var css = function (name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); };
  var pad = function (n) { return (n < 10 ? "0" : "") + n; };
  function clock(t) {
    if (t == null) return "";
    var s = Math.floor(t + 1e-6), h = Math.floor(s / 3600);
    return h > 0 ? h + ":" + pad(Math.floor(s / 60) % 60) + ":" + pad(s % 60) : Math.floor(s / 60) + ":" + pad(s % 60);
  }
  // halves go to the even figure, as in the text of the page
  var tenths = function (v) { var t = Math.round(v * 10); return (t - v * 10 === 0.5 && t % 2 ? t - 1 : t) / 10; };
  var gib = function (v) { return v == null ? "–" : (v < 1 ? v.toFixed(2) : tenths(v).toFixed(1)) + " GiB"; };
  var charts = [];

  // marks draws the phases of the training log behind the lines, and peak, alerts,
  // failures and ends of processes over them.
  function marks(g, r) {
    function line(u, t, color, dash, glyph) {
      if (t < u.scales.x.min || t > u.scales.x.max) return;
      var c = u.ctx, x = Math.round(u.valToPos(t, "x", true)) + 0.5, top = u.bbox.top, px = devicePixelRatio;
      c.save(); c.strokeStyle = c.fillStyle = color; c.lineWidth = px; c.setLineDash(dash.map(function (d) { return d * px; }));
      c.beginPath(); c.moveTo(x, top); c.lineTo(x, top + u.bbox.height); c.stroke();
      c.font = "bold " + 13 * px + "px system-ui, sans-serif"; c.textAlign = "center"; c.textBaseline = "bottom";
      c.fillText(glyph, x, top - 1 * px); c.restore();
    }
    return { hooks: {
      drawClear: [function (u) {
        var c = u.ctx, n = 0, px = devicePixelRatio;
        c.save();
        r.phases.forEach(function (p) {
          var a = Math.max(u.bbox.left, u.valToPos(p.t, "x", true)), b = Math.min(u.bbox.left + u.bbox.width, u.valToPos(p.end, "x", true));
          if (p.kind === "epoch") n++;
          if (b <= a) return;
          c.fillStyle = p.kind === "validation" ? css("--band2") : p.kind === "saving" ? css("--band3") : n % 2 ? css("--band1") : "transparent";
          c.fillRect(a, u.bbox.top, b - a, u.bbox.height);
          if (b - a > 60 * px) {
            c.fillStyle = css("--dim"); c.font = 11 * px + "px system-ui, sans-serif"; c.textBaseline = "bottom"; c.textAlign = "left";
            c.fillText(say(p.kind) + (p.n == null ? "" : " " + p.n), a + 4 * px, u.bbox.top + u.bbox.height - 3 * px);
          }
        });
        c.restore();
      }],
      draw: [function (u) {
        var c = u.ctx, px = devicePixelRatio;
        r.marks.forEach(function (m) {
          if (m.gpu !== null && m.gpu !== g.index || m.label && m.label !== g.label) return;
          if (m.kind === "oom") line(u, m.t, css("--bad"), [], "✖");
          else if (m.kind === "alert") line(u, m.t, css("--warn"), [4, 3], "!");
          else line(u, m.t, css("--dim"), [1, 4], m.kind === "end" ? "▪" : "▸");
        });
        if (g.peak) {
          var y = u.valToPos(g.peak.gib, "y", true), x = u.valToPos(g.peak.t, "x", true), right = u.bbox.left + u.bbox.width;
          c.save(); c.strokeStyle = c.fillStyle = css("--peak"); c.lineWidth = px; c.setLineDash([6 * px, 4 * px]);
          c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(right, y); c.stroke();
          if (x >= u.bbox.left && x <= right) {
            var text = "▲ " + say("at").replace("{size}", gib(g.peak.gib)).replace("{time}", clock(g.peak.t));
            c.font = "bold " + 12 * px + "px system-ui, sans-serif"; c.textBaseline = "bottom"; c.textAlign = "left";
            var w = c.measureText(text).width + 8 * px, left = Math.min(Math.max(x, u.bbox.left + 4 * px), right - w);
            c.setLineDash([]); c.beginPath(); c.arc(x, y, 3.5 * px, 0, 7); c.fill();
            c.lineWidth = 4 * px; c.strokeStyle = css("--card"); c.strokeText(text, left + 6 * px, y - 4 * px);
            c.fillText(text, left + 6 * px, y - 4 * px);
          }
          c.restore();
        }
      }]
    } };
  }

  // Memory is taken and given back at once: a figure lasts until the next one, and nothing lies between.
  var steps = uPlot.paths.stepped({ align: 1 });

  // highest is the place of the peak: what the legend shows until the mouse points elsewhere.
  function highest(list) {
    return list.reduce(function (best, v, i) { return v != null && (best < 0 || v > list[best]) ? i : best; }, -1);
  }

  function draw(box) {
    var r = reports[+box.dataset.report], g = r.gpus[+box.dataset.gpu];
    if (!g || g.t.length < 2) { box.remove(); return null; }
    var data = [g.t, g.high, g.low], width = function () { return box.clientWidth; }, rest = highest(g.high);
    var figure = function (u, v, s, i) { return gib(i == null ? data[s][rest] : v); };
    var series = [
      { label: say("time"), value: function (u, v, s, i) { return i == null ? clock(g.peak ? g.peak.t : g.t[rest]) + " ▲" : clock(v); } },
      { label: say("used"), stroke: function () { return css("--used"); }, width: 1.6, paths: steps, points: { show: false }, value: figure },
      { label: say("least"), fill: function () { return css("--fill"); }, width: 0, paths: steps, points: { show: false }, value: figure }
    ];
    g.processes.forEach(function (p, i) {
      data.push(p.gib);
      series.push({ label: p.name, stroke: function () { return css("--p" + (i % 6 + 1)); }, width: 1.3, paths: steps, points: { show: false }, value: figure });
    });
    if (g.allocated.length) {
      data.push(g.allocated);
      series.push({ label: say("allocated"), stroke: function () { return css("--ink"); }, width: 0, paths: function () { return null; }, points: { show: true, size: 6, fill: function () { return css("--ink"); } }, value: figure });
    }
    if (g.reserved.length) {
      data.push(g.reserved);
      series.push({ label: say("reserved"), stroke: function () { return css("--dim"); }, width: 0, paths: function () { return null; }, points: { show: true, size: 6, fill: function () { return css("--card"); } }, value: figure });
    }
    var axis = { stroke: function () { return css("--dim"); }, grid: { stroke: function () { return css("--grid"); }, width: 1 }, ticks: { stroke: function () { return css("--line"); }, width: 1 }, font: "12px system-ui, sans-serif" };
    var u = new uPlot({
      width: width(), height: Math.max(230, Math.min(340, width() * 0.36)), padding: [22, 14, 0, 0],
      cursor: { sync: { key: "report" + box.dataset.report }, drag: { x: true, y: false } },
      scales: { x: { time: false, range: function (u, a, b) { return [a, b > a ? b : a + 1]; } }, y: { range: function () { return [0, g.top]; } } },
      axes: [
        Object.assign({}, axis, { values: function (u, list, axis, space, step) { return list.map(function (t) { return clock(t) + (step < 1 ? (t % 1).toFixed(step < 0.1 ? 2 : 1).slice(1) : ""); }); }, space: 70, incrs: [0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800] }),
        Object.assign({}, axis, { values: function (u, list) { return list.map(function (v) { return v + " GiB"; }); }, size: 66 })
      ],
      series: series, bands: [{ series: [1, 2], fill: function () { return css("--band"); } }], plugins: [marks(g, r)]
    }, data, box);
    return { resize: function () { u.setSize({ width: width(), height: Math.max(230, Math.min(340, width() * 0.36)) }); }, redraw: function () { u.redraw(false, true); } };
  }

  Array.prototype.forEach.call(document.querySelectorAll(".chart"), function (box) {
    var c = draw(box);
    if (c) charts.push(c);
  });
  var waiting;
  addEventListener("resize", function () {
    clearTimeout(waiting);
    waiting = setTimeout(function () { charts.forEach(function (c) { c.resize(); }); }, 80);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { charts.forEach(function (c) { c.redraw(); }); });
})();
