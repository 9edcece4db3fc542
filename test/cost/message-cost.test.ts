import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { locateDataFolder, startParley } from '@parley/cli';
import { systemTime } from '@parley/core';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { describe, expect, inject, it } from 'vitest';
import { startModelDouble } from '../model/index.ts';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { createRedisPrefix } from '../services/fresh-redis-prefix.ts';
import { type CostBounds, IDLE_COST, MESSAGE_COST } from './bounds.ts';
import {
  formatGroups,
  groupByTransaction,
  type LoggedStatement,
  type StatementGroup,
} from './statement-log.ts';
import { watchPostgres, watchRedis } from './watch-servers.ts';
import { watchSqlite } from './watch-sqlite.ts';

const ANN = 501;
/**
 * The number of messages before anything is counted, so that pins, statements, connections and a
 * history exist.
 */
const WARM_UP = 4;
const COUNTED = 4;
/** A message is complete when nothing was requested for this time, in ms. */
const QUIET_MS = 150;
/** Long enough that each sweep runs about as often as on average. In ms. */
const IDLE_MS = 15_000;

/** Everything requested so far; the cost of a message is the difference between two readings. */
interface Noted {
  readonly asked: readonly LoggedStatement[];
  readonly commands?: readonly string[];
  readonly roundTrips?: () => number;
}

interface Cost extends CostBounds {
  readonly reads: number;
  readonly shown: string;
}

describe('a warm message in a direct chat', () => {
  it('[D16] costs no more than the table allows in one process', async () => {
    await using opened = new AsyncDisposableStack();
    const scene = await openScene(opened);
    const sqlite = watchSqlite();
    opened.defer(sqlite.stop);
    await scene.start({});
    const seen = await askAll(scene.ask, { asked: sqlite.asked });
    expectWithin(costOf(seen, []), MESSAGE_COST.embedded);
  });

  const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
  it.skipIf(redisUrl === null || postgresUrl === null)(
    '[D16] costs no more than the table allows on PostgreSQL and Redis',
    async () => {
      await using opened = new AsyncDisposableStack();
      const database = await createFreshDatabase(postgresUrl ?? '');
      opened.defer(database.drop);
      const postgres = await watchPostgres(database.url);
      opened.defer(postgres.close);
      const prefix = createRedisPrefix().slice(1, -1);
      const redis = await watchRedis(redisUrl ?? '', prefix);
      opened.defer(redis.close);
      const scene = await openScene(opened);
      const servers = { store: { url: postgres.url }, queue: { url: redisUrl, prefix } };
      await scene.start(servers, 'gateway');
      await scene.start(servers, 'worker');
      const { asked, roundTrips } = postgres;
      const noted = { asked, roundTrips, commands: redis.commands };
      const seen = await askAll(scene.ask, noted);
      const idle = [await idleSpan(noted), await idleSpan(noted)];
      expectWithin(costOf(seen, idle), MESSAGE_COST.distributed);
      expectIdle(idle);
    },
  );
});

function expectWithin(cost: Cost, bounds: CostBounds): void {
  const { shown, reads: _reads, ...counts } = cost;
  if (process.env.PARLEY_SHOW_COST !== undefined) process.stdout.write(`${shown}\n`);
  for (const [name, most] of Object.entries(bounds)) {
    expect(counts[name as keyof CostBounds], `${name}:\n${shown}`).toBeLessThanOrEqual(most);
  }
}

/** The requests of one message, and periodic requests that coincided with it. */
interface Seen {
  readonly groups: readonly StatementGroup[];
  readonly commands: readonly string[];
  readonly trips: number;
  readonly tookMs: number;
}

/** Sends questions until everything is warm, then records the requests of several messages. */
async function askAll(ask: (text: string) => Promise<void>, noted: Noted): Promise<Seen[]> {
  for (let nth = 0; nth < WARM_UP; nth += 1) await askAlone(ask, noted, `warm up ${nth}`);
  const seen: Seen[] = [];
  for (let nth = 0; nth < COUNTED; nth += 1) {
    seen.push(await askAlone(ask, noted, `question ${nth}`));
  }
  return seen;
}

/** The cost of a message: the requests that every message made, without periodic requests. */
function costOf(seen: readonly Seen[], idle: readonly IdleSpan[]): Cost {
  const [cheapest] = seen.toSorted((one, other) => one.commands.length - other.commands.length);
  if (cheapest === undefined) throw new Error('nothing was counted');
  const shortestMs = Math.min(...seen.map(({ tookMs }) => tookMs));
  const groups = inAll(seen).filter((group) => !fellIn(group, idle, shortestMs));
  return countsOf({ ...cheapest, groups });
}

/**
 * Whether a renewal or a sweep happened during every message. This happens on a machine so slow
 * that a message takes a good part of the time between two sweeps.
 */
function fellIn(group: StatementGroup, idle: readonly IdleSpan[], shortestMs: number): boolean {
  const times = idle
    .flatMap(({ groups }) => groups)
    .filter((other) => textOf(other) === textOf(group)).length;
  return shortestMs * times > (IDLE_MS * idle.length) / 4;
}

const textOf = ({ statements }: StatementGroup): string => statements.join('\n');

/** The transactions common to all messages, each counted by its minimum. */
function inAll([first, ...others]: readonly Seen[]): StatementGroup[] {
  const left = others.map(({ groups }) => groups.map(textOf));
  return (first?.groups ?? []).filter((group) => {
    const places = left.map((texts) => texts.indexOf(textOf(group)));
    if (places.includes(-1)) return false;
    for (const [nth, place] of places.entries()) left[nth]?.splice(place, 1);
    return true;
  });
}

async function askAlone(
  ask: (text: string) => Promise<void>,
  { asked, commands = [], roundTrips = () => 0 }: Noted,
  text: string,
): Promise<Seen> {
  const before = [asked.length, commands.length, roundTrips()] as const;
  const startedAt = performance.now();
  await ask(text);
  for (let size = -1; size !== asked.length + commands.length; ) {
    size = asked.length + commands.length;
    await pause(QUIET_MS);
  }
  const trips = roundTrips() - before[2];
  const groups = groupByTransaction(asked.slice(before[0]));
  const tookMs = performance.now() - startedAt;
  return { groups, commands: commands.slice(before[1]), trips, tookMs };
}

/** The requests of an idle gateway and worker, and a readable list of the requests. */
interface IdleSpan {
  readonly groups: readonly StatementGroup[];
  readonly redisCommands: number;
  readonly shown: string;
}

async function idleSpan({ asked, commands = [] }: Noted): Promise<IdleSpan> {
  const before = [asked.length, commands.length] as const;
  await pause(IDLE_MS);
  const groups = groupByTransaction(asked.slice(before[0]));
  const asks = commands.slice(before[1]);
  const shown = [formatGroups(groups), ...asks.map(shortened)].join('\n');
  return { groups, redisCommands: asks.length, shown };
}

/**
 * Uses the span with the least activity, because on a slow machine the first span may include work
 * for the last message.
 */
function expectIdle(spans: readonly IdleSpan[]): void {
  const [least] = spans.toSorted((one, other) => one.redisCommands - other.redisCommands);
  if (least === undefined) throw new Error('nothing was counted');
  const { groups, redisCommands, shown } = least;
  const counts = { transactions: groups.length, redisCommands };
  const seconds = IDLE_MS / 1_000;
  if (process.env.PARLEY_SHOW_COST !== undefined) {
    process.stdout.write(`idle ${seconds} s: ${JSON.stringify(counts)}\n${shown}\n`);
  }
  expect(counts.transactions / seconds, shown).toBeLessThanOrEqual(IDLE_COST.transactions);
  expect(counts.redisCommands / seconds, shown).toBeLessThanOrEqual(IDLE_COST.redisCommands);
}

function countsOf({ groups, commands, trips }: Seen): Cost {
  const own = groups.filter(({ connection }) => connection !== 'queue');
  const queue = groups.filter(({ connection }) => connection === 'queue');
  const sum = (all: readonly StatementGroup[]) =>
    all.reduce((total, one) => total + one.statements.length, 0);
  const counts = {
    statements: sum(own),
    transactions: own.filter(({ writes }) => writes).length,
    reads: own.filter(({ isTransaction }) => !isTransaction).length,
    jobs:
      queue.flatMap(({ statements }) => statements).filter((text) => ADDED.test(text)).length +
      commands.filter((command) => /^lua incr \S+:id$/i.test(command)).length,
    redisCommands: commands.length,
  };
  const title = JSON.stringify({ ...counts, roundTrips: trips, queueStatements: sum(queue) });
  return { ...counts, shown: [title, formatGroups(groups), ...commands.map(shortened)].join('\n') };
}

const shortened = (command: string): string => command.slice(0, 120);

/** A job in the in-memory queue is stored as a row. */
const ADDED = /^\s*insert (or \w+ )?into job\b/i;

/** Parley with a Telegram double and a model double in one process, so that starting is cheap. */
async function openScene(opened: AsyncDisposableStack) {
  const [telegram, model] = await Promise.all([startTelegramDouble(), startModelDouble()]);
  opened.defer(() => telegram.close());
  opened.defer(() => model.close());
  model.reply(() => 'Here is what I found, in **two** sentences. It is not much.');
  const folder = mkdtempSync(join(tmpdir(), 'parley-cost-'));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const settings = {
    owners: [`telegram:${ANN}`],
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    http: { port: 0 },
    agent: { workspace: join(folder, 'workspace') },
    channels: {
      telegram: { token: telegram.token, apiRoot: telegram.apiRoot, pace: false },
    },
  };
  const answers = () => telegram.conversation(ANN).filter(({ from }) => from === 'bot').length;
  return {
    async start(servers: object, role: 'all' | 'gateway' | 'worker' = 'all') {
      const data = mkdtempSync(join(folder, `${role}-`));
      const all = { ...settings, ...servers };
      writeFileSync(join(data, 'parley.yaml'), JSON.stringify(all));
      const parley = await startParley({
        folder: locateDataFolder(data, {}),
        env: {},
        role,
        ...systemTime,
        checkpoint() {},
        logTo: { write() {} },
      });
      opened.defer(() => parley.close());
    },
    async ask(text: string) {
      const before = answers();
      telegram.say({ chat: ANN, text });
      await telegram.waitFor(() => answers() > before);
    },
  };
}
