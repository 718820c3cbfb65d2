'use strict';

const POLL_MILLIS = 400;
const number = new Intl.NumberFormat('en');
const byId = (id) => document.getElementById(id);

/** Writes text only when it changed, so that screen readers do not repeat it. */
function show(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function showFigure(id, value) {
  show(byId(id), value === undefined || value === null ? '–' : number.format(value));
}

const STEP_MARKS = { waiting: '·', running: '▸', ready: '✓', failed: '✗' };

function showSteps(steps) {
  const list = byId('steps');
  while (list.children.length < steps.length) {
    const line = document.createElement('li');
    line.append(...['mark', 'name', 'time'].map((name) => {
      const part = document.createElement('span');
      part.className = name;
      return part;
    }));
    list.append(line);
  }
  steps.forEach((step, index) => {
    const line = list.children[index];
    line.dataset.state = step.state;
    show(line.querySelector('.mark'), STEP_MARKS[step.state]);
    show(line.querySelector('.name'), step.name);
    show(line.querySelector('.time'), step.state === 'waiting' ? '' : `${step.seconds.toFixed(1)} s`);
  });
  byId('start-bar').value = steps.filter((step) => step.state === 'ready').length / Math.max(1, steps.length);
}

const HEALTH_WORDS = { up: 'running', starting: 'restarting', down: 'not running' };

function showServers(servers) {
  for (const station of document.querySelectorAll('.station')) {
    const server = servers[station.dataset.server];
    station.dataset.health = server.health;
    const times = server.restarts === 1 ? 'once' : `${server.restarts} times`;
    const pid = server.health === 'up' ? `, process ${server.pid}` : '';
    const restarts = server.restarts > 0 ? `, restarted ${times}` : '';
    show(station.querySelector('.health'), HEALTH_WORDS[server.health] + pid + restarts);
  }
}

function showButtons(state) {
  for (const button of document.querySelectorAll('button[data-action]')) {
    const needed = button.dataset.needs.split(' ');
    const ready = state.phase === 'running' && needed.every((name) => state.servers[name].health === 'up');
    button.disabled = !ready || state.busy.includes(button.dataset.action);
  }
}

function showLog(entries) {
  const list = byId('entries');
  const known = Number(list.dataset.last || 0);
  for (const entry of entries.filter((candidate) => candidate.number > known)) {
    const line = document.createElement('li');
    const time = document.createElement('time');
    time.textContent = entry.time;
    const text = document.createElement('span');
    text.textContent = entry.text;
    line.append(time, text);
    list.prepend(line);
    list.dataset.last = entry.number;
  }
  while (list.children.length > 200) {
    list.lastChild.remove();
  }
}

const VERDICTS = { 'none': 'Ledger', 'exact': '✓ Exact', 'catching-up': '… Catching up', 'wrong': '✗ WRONG' };

function showLedger(ledger) {
  const footer = byId('ledger');
  const sign = ledger.state === 'exact' ? '=' : '·';
  footer.dataset.state = ledger.state;
  // Figures change all the time while events are on their way. Screen readers read only the verdict.
  footer.setAttribute('aria-live', ledger.state === 'catching-up' ? 'off' : 'polite');
  show(byId('verdict'), VERDICTS[ledger.state]);
  show(byId('equation'), ledger.state === 'none' ? '' :
      [`${number.format(ledger.orders)} orders`, `${number.format(ledger.events)} events`,
        `${number.format(ledger.shipments)} shipments`].join(` ${sign} `));
  show(byId('reason'), ledger.reason);
}

function showPhase(state) {
  document.body.dataset.phase = state.phase;
  byId('start').hidden = state.phase === 'running';
  byId('flow').hidden = state.phase !== 'running';
  if (state.phase === 'failed') {
    show(byId('start-title'), 'The demo could not start');
    show(byId('start-note'), state.problem);
  }
}

function render(state) {
  showPhase(state);
  showSteps(state.steps);
  showServers(state.servers);
  const figures = state.figures;
  showFigure('orders', figures.orders);
  showFigure('events', figures.events);
  showFigure('rolled-back', figures.rolledBack);
  showFigure('lag', figures.lag);
  showFigure('position', figures.position);
  showFigure('transaction', figures.transaction);
  showFigure('records', figures.records);
  showFigure('distinct', figures.distinct);
  showFigure('repeats', figures.repeats);
  showFigure('shipments', figures.shipments);
  showFigure('unshipped', figures.unshipped);
  showFigure('skipped', figures.skipped);
  showButtons(state);
  showLog(state.log);
  showLedger(state.ledger);
}

function showGone() {
  document.body.dataset.phase = 'gone';
  for (const button of document.querySelectorAll('button')) {
    button.disabled = true;
  }
  showLedger({ state: 'none', reason: 'The demo has stopped. To start it again: ./sample-app/run' });
}

async function poll() {
  try {
    const answer = await fetch('api/state', { cache: 'no-store' });
    render(await answer.json());
  } catch (unreachable) {
    showGone();
  }
  setTimeout(poll, POLL_MILLIS);
}

for (const button of document.querySelectorAll('button[data-action]')) {
  button.addEventListener('click', () => {
    button.disabled = true; // at once; the next poll shows the real state
    // No other site can send a request with this header.
    fetch(`api/actions/${button.dataset.action}`, { method: 'POST', headers: { 'X-Twinbox-Demo': 'page' } })
        .catch(showGone);
  });
}

poll();
