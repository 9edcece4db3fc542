import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  assembleHistory,
  createCompactor,
  createTurnRunner,
  type HistoryLimits,
  readHistory,
} from '@parley/agent';
import { silentLogger } from '@parley/core';
import type { ChatModel, ModelRequest } from '@parley/models';
import { openStore, type Store } from '@parley/store';
import { estimateTokens, openWorkspace } from '@parley/workspace';
import { type TimeSpread, timeRuns } from './prompt.ts';
import { CHAT, createMessage, createServices, fillWorkspace } from './prompt-scene.ts';
import { formatRounded, renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { withNewFolder } from './subjects.ts';

/** The cost of reading a stored conversation's history before each request. */
export interface HistoryCost {
  readonly turns: number;
  /** What Parley reads: the summary and the entries after it, or the newest entries that fit. */
  readonly summedUp: TimeSpread;
  readonly newest: TimeSpread;
  /** Reading the whole history. */
  readonly everything: TimeSpread;
}

export interface ContextFigures {
  readonly compacting: TalkCost;
  readonly leavingOut: TalkCost;
  readonly pasts: readonly HistoryCost[];
}

/** The number of turns in the long conversation. */
export const TURNS = 300;
const STORED = [10, 100, 1_000, 10_000];
/** Roughly how many turns a summary leaves verbatim. */
const KEPT = 20;
const PLACE = { conversationId: CHAT, session: 0 };
const OWNER = { kind: 'owner', conversationId: CHAT } as const;
const LIMITS = { entries: 400, tokens: 24_000 };

/** Measures the tokens of a long conversation, and the time to read its history. */
export async function measureContext(rounds: BenchRounds): Promise<ContextFigures> {
  return withNewFolder(async (folder) => {
    fillWorkspace(folder);
    const compacting = await measureTalk(folder, TURNS, true);
    const leavingOut = await measureTalk(folder, TURNS, false);
    const pasts: HistoryCost[] = [];
    for (const turns of STORED) pasts.push(await timeHistory(turns, rounds.repetitions / 4));
    return { compacting, leavingOut, pasts };
  });
}

async function timeHistory(turns: number, times: number): Promise<HistoryCost> {
  return withNewFolder(async (folder) => {
    const path = join(folder, 'parley.db');
    const store = await openStore({ url: `sqlite:${path}`, clock: () => 0 });
    fillHistory(path, turns);
    const now = { role: 'user', content: questionOf(turns) } as const;
    const budget = { history: LIMITS.tokens, now: WINDOW };
    const assembled = async (entries: number) => {
      const { summary, transcript } = await readHistory(store, PLACE, OWNER, entries);
      assembleHistory({ summary: summary?.text ?? null, entries: transcript, now }, budget);
    };
    const newest = await timeWarm(times, () => assembled(LIMITS.entries));
    const everything = await timeWarm(Math.min(times, 20), async () => {
      const entries = await store.transcript.recent(CHAT, 0, 2 * turns);
      assembleHistory(
        { summary: null, entries, now },
        { ...budget, history: Number.POSITIVE_INFINITY },
      );
    });
    await writeSummary(store, 2 * Math.max(0, turns - KEPT));
    const summedUp = await timeWarm(times, () => assembled(LIMITS.entries));
    await store.close();
    return { turns, summedUp, newest, everything };
  });
}

async function timeWarm(times: number, work: () => Promise<unknown>): Promise<TimeSpread> {
  await timeRuns(Math.ceil(times / 4), work);
  return timeRuns(times, work);
}

/**
 * Uses a single transaction, because a commit per turn would take minutes and is not what is
 * measured.
 */
function fillHistory(path: string, turns: number): void {
  const database = new DatabaseSync(path);
  database.exec('begin');
  database
    .prepare('insert into conversation (id, epoch, session, created_at) values (?, 0, 0, 0)')
    .run(CHAT);
  const turn = database.prepare(
    "insert into turn (id, conversation_id, session, state, attempts, started_at, finished_at) values (?, ?, 0, 'answered', 1, 0, 0)",
  );
  const entry = database.prepare(
    'insert into transcript (conversation_id, session, turn_id, role, content, created_at) values (?, 0, ?, ?, ?, 0)',
  );
  for (let nth = 1; nth <= turns; nth += 1) {
    turn.run(`t${nth}`, CHAT);
    entry.run(CHAT, `t${nth}`, 'user', JSON.stringify({ text: questionOf(nth) }));
    entry.run(CHAT, `t${nth}`, 'assistant', JSON.stringify({ text: ANSWER }));
  }
  database.exec('commit');
  database.close();
}

async function writeSummary(store: Store, reaches: number): Promise<void> {
  if (reaches === 0) return;
  const task = { ...PLACE, reader: OWNER.kind, kind: 'history', mark: '0' } as const;
  await store.summaries.claim(task, { by: 'bench', now: 0, claimMs: 1, impatient: false });
  const facts = ['They talk of the house by the lake.'];
  const content = { facts, decisions: [], openTasks: [], remembered: [], tone: [] };
  await store.summaries.finish(task, 'bench', { content, reaches });
}

/**
 * The maximum ratio of the cost of the later half of a conversation to the earlier one; with
 * quadratic cost it is three.
 */
const LINEAR = 1.5;

export function renderContext({ compacting, leavingOut, pasts }: ContextFigures): string {
  const title = `${TURNS} turns, a window of ${WINDOW} tokens`;
  const ways = [
    [title, 'tokens in all', 'first 50, each', 'last 50, each', 'largest', '2nd half : 1st', ''],
    [
      `Parley, ${compacting.summaries.length} summaries`,
      ...formatCosts(compacting.turns, compacting),
      describeAimMet(compacting.turns),
    ],
    ['without summaries: the oldest is left out', ...formatCosts(leavingOut.turns), ''],
    ['everything is sent', ...formatCosts(compacting.everything), ''],
  ];
  const times = [
    ['turns that are stored', ...pasts.map(({ turns }) => String(turns))],
    formatRow('the past of a request, summed up', pasts, ({ summedUp }) => summedUp),
    formatRow('the same, not summed up yet', pasts, ({ newest }) => newest),
    formatRow('everything', pasts, ({ everything }) => everything),
  ];
  return [renderTable(ways), '', renderTable(times)].join('\n');
}

function formatCosts(turns: readonly number[], { summaries }: Partial<TalkCost> = {}): string[] {
  const mean = (of: readonly number[]) => (sum(of) / of.length).toFixed(0);
  const all = sum(turns) + sum(summaries ?? []);
  const largest = String(Math.max(...turns));
  const ratio = formatRounded(computeGrowth(turns));
  return [String(all), mean(turns.slice(0, 50)), mean(turns.slice(-50)), largest, ratio];
}

function computeGrowth(turns: readonly number[]): number {
  const half = turns.length / 2;
  return sum(turns.slice(half)) / sum(turns.slice(0, half));
}

function describeAimMet(turns: readonly number[]): string {
  const fits = Math.max(...turns) <= WINDOW && computeGrowth(turns) <= LINEAR;
  return fits ? 'linear, fits' : 'MISSED';
}

function formatRow(
  name: string,
  pasts: readonly HistoryCost[],
  of: (past: HistoryCost) => HistoryCost['newest'],
): string[] {
  return [
    name,
    ...pasts.map((past) => `${formatRounded(of(past).median)} ms (${formatRounded(of(past).p95)})`),
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The cost of a whole conversation in request tokens; answers cost the same for all variants. */
export interface TalkCost {
  /** The tokens of each turn, in order. */
  readonly turns: readonly number[];
  /** The tokens of each summary, including its output. */
  readonly summaries: readonly number[];
  /** The tokens of each turn if the whole history had been sent. */
  readonly everything: readonly number[];
}

/** The context window assumed for an unknown model, and the number of history entries shown. */
export const WINDOW = 32_768;
const HISTORY: HistoryLimits = { entries: 400, tokens: 24_000 };
const MINUTE = 60_000;

/** Questions of about 60 and 120 tokens; no two questions are alike. */
export const questionOf = (turn: number) =>
  `Number ${turn}: ${'tell me more of the house by the lake. '.repeat(6)}`;
export const ANSWER = 'The house by the lake has a green door and two chimneys. '.repeat(9);
const NOTES = `# Facts\n${'- They talk of the house by the lake, its door and its two chimneys.\n'.repeat(16)}`;

/**
 * Runs a conversation of this many turns in a workspace filled by `fillWorkspace`; without
 * `compacts`, the oldest entries are left out.
 */
export async function measureTalk(
  folder: string,
  turns: number,
  compacts: boolean,
): Promise<TalkCost> {
  let now = Date.UTC(2026, 10, 21, 8);
  const clock = () => now;
  const store = await openStore({ url: 'sqlite::memory:', clock });
  const workspace = await openWorkspace({ folder, templates: folder });
  const cost = { turns: [] as number[], summaries: [] as number[], everything: [] as number[] };
  let said = 0;
  const model = createModel((request, isSummary) => {
    const tokens = countTokens(request);
    if (isSummary) cost.summaries.push(tokens + estimateTokens(NOTES));
    else {
      const current = estimateTokens(request.messages.at(-1)?.content ?? '');
      cost.turns.push(tokens);
      cost.everything.push(countTokens({ ...request, messages: [] }) + said + current);
    }
  });
  const past = { history: HISTORY, contextTokens: () => WINDOW };
  const deps = { ...createServices({ workspace, store, model, clock, layout: 'parley' }), ...past };
  let ids = 0;
  const newId = (prefix: string) => {
    ids += 1;
    return `${prefix}-${ids}`;
  };
  const compactor = createCompactor({ ...deps, store, newId, log: silentLogger });
  const runTurn = createTurnRunner(compacts ? { ...deps, compactor } : deps);
  for (let turn = 1; turn <= turns; turn += 1) {
    now += MINUTE;
    await store.inbox.accept(createMessage(turn, now, questionOf(turn)));
    const work = { conversationId: CHAT, owner: 'bench', leaseMs: 10 * MINUTE };
    const started = await store.lanes.begin(work, 'collect', `t${turn}`, now);
    if (started.kind !== 'turn') throw new Error(`There is no turn: ${started.kind}.`);
    await runTurn(started.turn, started.lease, new AbortController().signal);
    await store.lanes.release(started.lease);
    await compactor.settled();
    said += estimateTokens(questionOf(turn)) + estimateTokens(ANSWER);
  }
  await store.close();
  return cost;
}

/** The approximate tokens of a request, including its tools. */
function countTokens({ system, messages, tools }: ModelRequest): number {
  const texts = [
    ...system.map(({ text }) => text),
    ...messages.map(({ content }) => content),
    ...(tools === undefined ? [] : [JSON.stringify(tools)]),
  ];
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

function createModel(sees: (request: ModelRequest, isSummary: boolean) => void): ChatModel {
  const id = 'bench/talk';
  return {
    id,
    async *stream(request) {
      const isSummary = request.system.some(({ text }) => text.startsWith('You keep the notes'));
      sees(request, isSummary);
      const text = isSummary ? NOTES : ANSWER;
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, estimated: true };
      yield { type: 'text', text };
      yield { type: 'finish', text, usage, finishReason: 'stop', model: id, costUsd: null };
    },
  };
}
