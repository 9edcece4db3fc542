import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { assembleHistory, readHistory } from '@parley/agent';
import { openStore, type Store } from '@parley/store';
import { inNewFolder } from './bench-room.ts';
import type { Rounds } from './figure.ts';
import { ANSWER, questionOf, type TalkCost, talk, WINDOW } from './long-talk.ts';
import { type Spread, timed } from './measure-prompt.ts';
import { CHAT, fillWorkspace } from './prompt-scene.ts';

/** What the past of a stored conversation costs before each request. */
export interface PastCost {
  readonly turns: number;
  /** As Parley does it: the summary and what came after it, or the newest that fit. */
  readonly summedUp: Spread;
  readonly newest: Spread;
  /** Everything that was ever said. */
  readonly everything: Spread;
}

/** All figures of the section. */
export interface ContextFigures {
  readonly compacting: TalkCost;
  readonly leavingOut: TalkCost;
  readonly pasts: readonly PastCost[];
}

/** Turns of the long conversation. */
export const TURNS = 300;
const STORED = [10, 100, 1_000, 10_000];
/** Turns that a summary leaves as they were said, about. */
const KEPT = 20;
const PLACE = { conversationId: CHAT, session: 0 };
const OWNER = { kind: 'owner', conversationId: CHAT } as const;
const LIMITS = { entries: 400, tokens: 24_000 };

/** What a long conversation costs in tokens, and its past in time. */
export async function measureContext(rounds: Rounds): Promise<ContextFigures> {
  return inNewFolder(async (folder) => {
    fillWorkspace(folder);
    const compacting = await talk(folder, TURNS, true);
    const leavingOut = await talk(folder, TURNS, false);
    const pasts: PastCost[] = [];
    for (const turns of STORED) pasts.push(await timePast(turns, rounds.micro / 4));
    return { compacting, leavingOut, pasts };
  });
}

async function timePast(turns: number, times: number): Promise<PastCost> {
  return inNewFolder(async (folder) => {
    const path = join(folder, 'parley.db');
    const store = await openStore({ url: `sqlite:${path}`, clock: () => 0 });
    fillHistory(path, turns);
    const now = { role: 'user', content: questionOf(turns) } as const;
    const budget = { history: LIMITS.tokens, now: WINDOW };
    const assembled = async (entries: number) => {
      const { summary, transcript } = await readHistory(store, PLACE, OWNER, entries);
      assembleHistory({ summary: summary?.text ?? null, entries: transcript, now }, budget);
    };
    const newest = await warm(times, () => assembled(LIMITS.entries));
    const everything = await warm(Math.min(times, 20), async () => {
      const entries = await store.transcript.recent(CHAT, 0, 2 * turns);
      assembleHistory(
        { summary: null, entries, now },
        { ...budget, history: Number.POSITIVE_INFINITY },
      );
    });
    await writeSummary(store, 2 * Math.max(0, turns - KEPT));
    const summedUp = await warm(times, () => assembled(LIMITS.entries));
    await store.close();
    return { turns, summedUp, newest, everything };
  });
}

async function warm(times: number, work: () => Promise<unknown>): Promise<Spread> {
  await timed(Math.ceil(times / 4), work);
  return timed(times, work);
}

/** In one go: a commit for each turn would take minutes, and is not what is measured. */
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
  await store.summaries.claim(task, { by: 'bench', now: 0, until: 1, impatient: false });
  const facts = ['They talk of the house by the lake.'];
  const content = { facts, decisions: [], openTasks: [], remembered: [], tone: [] };
  await store.summaries.finish(task, 'bench', { content, reaches });
}
