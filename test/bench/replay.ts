import { createTurnRunner } from '@parley/agent';
import { type ReplayServices, replayRecordedTurn } from '@parley/agent/replay';
import { silentLogger } from '@parley/core';
import type { ChatModel } from '@parley/models';
import { openStore, type Store } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { CHAT, createMessage, createServices, fillWorkspace } from './prompt-scene.ts';
import { formatRounded, renderTable } from './report.ts';
import type { BenchRounds } from './rounds.ts';
import { withNewFolder } from './subjects.ts';

/** The least number of turns that are replayed in a second with a scripted model. */
const GOAL = 100;
/** Fewer turns would mostly measure the compiler. */
const MIN_TURNS = 200;
const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 21, 8);

export interface ReplayFigures {
  /** The recorded turns, each with a tool call and a growing history. */
  readonly turns: number;
  /** With a scripted model, and with `--dry-run`. */
  readonly asked: ReplayCost;
  readonly dry: ReplayCost;
}

interface ReplayCost {
  readonly perSecond: number;
  /** Processor time of a turn, in ms, which a busy machine changes less. */
  readonly cpuMs: number;
}

/** Measures how many recorded turns are replayed in a second (G22). */
export function measureReplay({ repetitions }: BenchRounds): Promise<ReplayFigures> {
  return withNewFolder(async (folder) => {
    fillWorkspace(folder);
    const store = await openStore({ url: 'sqlite::memory:', clock: Date.now });
    const turnIds = await recordTurns(store, folder, Math.max(MIN_TURNS, repetitions));
    const asked = await timeReplays(store, folder, turnIds, createModel());
    const dry = await timeReplays(store, folder, turnIds, null);
    await store.close();
    return { turns: turnIds.length, asked, dry };
  });
}

/** Runs turns in one chat, a minute apart; each reads a file and then answers. */
async function recordTurns(
  store: Store,
  folder: string,
  count: number,
): Promise<readonly string[]> {
  let now = START;
  const workspace = await openWorkspace({ folder, templates: folder });
  const model = createModel();
  const deps = createServices({ workspace, store, model, clock: () => now, layout: 'parley' });
  const run = createTurnRunner({ ...deps, prompts: store.prompts });
  const turnIds: string[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    now += MINUTE;
    await store.inbox.accept(createMessage(nth, now));
    const work = { conversationId: CHAT, owner: 'bench', leaseMs: 10 * MINUTE };
    const begun = await store.lanes.begin(work, 'collect', `t${nth}`, now);
    if (begun.kind !== 'turn') throw new Error(`There is no turn: ${begun.kind}.`);
    await run(begun.turn, begun.lease, new AbortController().signal);
    await store.lanes.release(begun.lease);
    turnIds.push(begun.turn.turnId);
  }
  return turnIds;
}

async function timeReplays(
  store: Store,
  folder: string,
  turnIds: readonly string[],
  model: ChatModel | null,
): Promise<ReplayCost> {
  const workspace = await openWorkspace({ folder, templates: folder });
  const parts = { workspace, store, model: createModel(), clock: Date.now, layout: 'parley' };
  const { agent, owners, history, media, checks, monotonic } = createServices(parts);
  const services: ReplayServices = {
    ...{ store, agent, owners, history, media, checks, monotonic },
    ...{ clock: Date.now, log: silentLogger },
  };
  const replayAll = async (): Promise<void> => {
    for (const turnId of turnIds) {
      const signal = AbortSignal.timeout(MINUTE);
      const outcome = await replayRecordedTurn(services, turnId, { model }, signal);
      if (outcome?.kind !== 'same') throw new Error(`${turnId}: ${JSON.stringify(outcome)}`);
    }
  };
  await replayAll();
  const [started, used] = [performance.now(), process.cpuUsage()];
  await replayAll();
  const { user, system } = process.cpuUsage(used);
  return {
    perSecond: (turnIds.length * 1_000) / (performance.now() - started),
    cpuMs: (user + system) / 1_000 / turnIds.length,
  };
}

/** Reads a file, and then answers. */
function createModel(): ChatModel {
  const id = 'bench/reader';
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, estimated: true };
  return {
    id,
    async *stream({ messages }) {
      const finish = { type: 'finish', usage, model: id, costUsd: null } as const;
      if (messages.at(-1)?.role === 'user') {
        const call = { id: 'c', name: 'read', arguments: '{"path":"AGENTS.md"}' };
        yield { type: 'tool-call', call };
        yield { ...finish, text: '', finishReason: 'tool-calls' };
        return;
      }
      const text = 'Fine: the sun is out, and nothing is on before four.';
      yield { type: 'text', text };
      yield { ...finish, text, finishReason: 'stop' };
    },
  };
}

export function renderReplay({ turns, asked, dry }: ReplayFigures): string {
  const row = (name: string, { perSecond, cpuMs }: ReplayCost) => [
    name,
    String(turns),
    formatRounded(perSecond),
    formatRounded(cpuMs),
    perSecond >= GOAL ? `at least ${GOAL}` : `BELOW ${GOAL}`,
  ];
  return renderTable([
    ['replayed', 'turns', 'turns a second', 'processor ms', 'goal'],
    row('with a scripted model', asked),
    row('--dry-run', dry),
  ]);
}
