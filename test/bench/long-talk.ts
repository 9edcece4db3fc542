import { createCompactor, createTurnRunner, type HistoryLimits } from '@parley/agent';
import { silentLogger } from '@parley/contracts';
import type { ChatModel, ModelRequest } from '@parley/models';
import { openStore } from '@parley/store';
import { estimateTokens, openWorkspace } from '@parley/workspace';
import { CHAT, depsOf, messageOf } from './prompt-scene.ts';

/** What a whole conversation has cost, in tokens of requests; answers cost the same for everybody. */
export interface TalkCost {
  /** Of each turn, in their order. */
  readonly turns: readonly number[];
  /** Of each summary, what was written for it included. */
  readonly summaries: readonly number[];
  /** Of each turn, if it had been sent everything that was said. */
  readonly everything: readonly number[];
}

/** What a model of unknown make is given, and what an installation shows of the past. */
export const WINDOW = 32_768;
const HISTORY: HistoryLimits = { entries: 400, tokens: 24_000 };
const MINUTE = 60_000;

/** About 60 tokens, and 120; no two questions alike. */
export const questionOf = (turn: number) =>
  `Number ${turn}: ${'tell me more of the house by the lake. '.repeat(6)}`;
export const ANSWER = 'The house by the lake has a green door and two chimneys. '.repeat(9);
const NOTES = `# Facts\n${'- They talk of the house by the lake, its door and its two chimneys.\n'.repeat(16)}`;

/** Talks for so many turns in a workspace that `fillWorkspace` has filled; without `compacts` the oldest is left out. */
export async function talk(folder: string, turns: number, compacts: boolean): Promise<TalkCost> {
  let now = Date.UTC(2026, 10, 21, 8);
  const clock = () => now;
  const store = await openStore({ url: 'sqlite::memory:', clock });
  const workspace = await openWorkspace({ folder, templates: folder });
  const cost = { turns: [] as number[], summaries: [] as number[], everything: [] as number[] };
  let said = 0;
  const model = modelThat((request, isSummary) => {
    const tokens = tokensOf(request);
    if (isSummary) cost.summaries.push(tokens + estimateTokens(NOTES));
    else {
      const current = estimateTokens(request.messages.at(-1)?.content ?? '');
      cost.turns.push(tokens);
      cost.everything.push(tokensOf({ ...request, messages: [] }) + said + current);
    }
  });
  const past = { history: HISTORY, contextTokens: () => WINDOW };
  const deps = { ...depsOf({ workspace, store, model, clock, layout: 'parley' }), ...past };
  let ids = 0;
  const newId = (prefix: string) => {
    ids += 1;
    return `${prefix}-${ids}`;
  };
  const compactor = createCompactor({ ...deps, store, newId, log: silentLogger });
  const runTurn = createTurnRunner(compacts ? { ...deps, compactor } : deps);
  for (let turn = 1; turn <= turns; turn += 1) {
    now += MINUTE;
    await store.inbox.accept(messageOf(turn, now, questionOf(turn)));
    const work = { conversationId: CHAT, owner: 'bench', leaseMs: 10 * MINUTE };
    const begun = await store.lanes.begin(work, 'collect', `t${turn}`, now);
    if (begun.kind !== 'turn') throw new Error(`There is no turn: ${begun.kind}.`);
    await runTurn(begun.turn, begun.lease, new AbortController().signal);
    await store.lanes.release(begun.lease);
    await compactor.settled();
    said += estimateTokens(questionOf(turn)) + estimateTokens(ANSWER);
  }
  await store.close();
  return cost;
}

/** About what a request costs, its tools included. */
function tokensOf({ system, messages, tools }: ModelRequest): number {
  const texts = [
    ...system.map(({ text }) => text),
    ...messages.map(({ content }) => content),
    ...(tools === undefined ? [] : [JSON.stringify(tools)]),
  ];
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

function modelThat(sees: (request: ModelRequest, isSummary: boolean) => void): ChatModel {
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
