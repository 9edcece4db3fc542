import { silentLogger, silentMeter } from '@parley/core';
import { type ChatModel, ModelError, type ModelRequest } from '@parley/models';
import type { ContextSource, SourceTurn } from '@parley/prompt';
import { estimateTokens } from '@parley/workspace';
import { type CompactionServices, type Compactor, createCompactor } from '../context/compactor.ts';
import { openTurnScene, type TurnScene } from './turn-scene.ts';

export interface LongConversation {
  readonly scene: TurnScene;
  readonly asked: ModelRequest[];
  readonly summaries: ModelRequest[];
  readonly compactor: Compactor;
  readonly model: ChatModel;
  /** The turns for which sources were gathered. */
  readonly atHand: SourceTurn[];
  otherWorker(more?: Partial<CompactionServices>): Compactor;
  /** Makes the next summary requests fail, or makes the next turn requests too long. */
  fail(what: 'summary' | 'turn', times: number): void;
  say(text: string): Promise<void>;
}

export interface LongConversationOptions {
  readonly contextTokens: number;
  readonly compacts?: boolean;
}

/** Asks for the fact that `say('Remember: the code is 4711.')` states. */
export const QUESTION = 'What is the code?';

export async function openLongConversation({
  contextTokens,
  compacts = true,
}: LongConversationOptions): Promise<LongConversation> {
  const asked: ModelRequest[] = [];
  const summaries: ModelRequest[] = [];
  const failing = { summary: 0, turn: 0 };
  const model = createForgetfulModel(asked, summaries, failing);
  const history = { entries: 400, tokens: 24_000 };
  const atHand: SourceTurn[] = [];
  const source: ContextSource = {
    id: 'test',
    async gather(turn) {
      atHand.push(turn);
      return {};
    },
  };
  let inner: Compactor | undefined;
  const compactor: Compactor = {
    notice: (order, fill) => inner?.notice(order, fill),
    afterTurn: (conversationId) => inner?.afterTurn(conversationId),
    now: async (order, stop) =>
      (await inner?.now(order, stop)) ?? { kind: 'nothing', already: false },
    settled: async () => inner?.settled(),
    close: async () => inner?.close(),
  };
  const size = { history, contextTokens: () => contextTokens };
  const scene = await openTurnScene(
    {},
    { model, sources: [source], ...size, ...(compacts && { compactor }) },
  );
  let ids = 0;
  const newId = (prefix: string) => {
    ids += 1;
    return `${prefix}-${ids}`;
  };
  const deps = {
    ...size,
    store: scene.store,
    model,
    newId,
    clock: () => 0,
    monotonic: () => 0,
    meter: silentMeter,
  };
  const otherWorker = (more: Partial<CompactionServices> = {}) =>
    createCompactor({ ...deps, log: silentLogger, ...more });
  inner = otherWorker();
  return {
    scene,
    asked,
    summaries,
    compactor,
    model,
    atHand,
    otherWorker,
    fail(what, times) {
      failing[what] = times;
    },
    async say(text) {
      await scene.write(text);
      await scene.answerNext();
      await compactor.settled();
    },
  };
}

function createForgetfulModel(
  asked: ModelRequest[],
  summaries: ModelRequest[],
  failing: { summary: number; turn: number },
): ChatModel {
  return {
    id: 'test/long',
    async *stream(request) {
      const isSummary = request.system.some(({ text }) => text.startsWith('You keep the notes'));
      (isSummary ? summaries : asked).push(request);
      const what = isSummary ? 'summary' : 'turn';
      failing[what] -= 1;
      if (failing[what] >= 0) throw new ModelError({ kind: 'too-long' }, 'test/long', 'too long');
      const text = isSummary ? createTestSummary(request) : createTestAnswer(request);
      yield { type: 'text', text };
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, estimated: true };
      yield {
        type: 'finish',
        text,
        usage,
        finishReason: 'stop',
        model: 'test/long',
        costUsd: null,
      };
    },
  };
}

export function estimateRequestTokens({ system, messages }: ModelRequest): number {
  const texts = [...system.map(({ text }) => text), ...messages.map(({ content }) => content)];
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

const codeIn = (request: ModelRequest) =>
  /the code is \d+/.exec(request.messages.map(({ content }) => content).join('\n'))?.[0];

function createTestAnswer(request: ModelRequest): string {
  if (!request.messages.at(-1)?.content.endsWith(QUESTION)) return 'I see. '.repeat(40);
  return codeIn(request) ?? 'I do not know.';
}

function createTestSummary(request: ModelRequest): string {
  const isWanted = request.system.some(({ text }) => text.includes('Their own words'));
  const quotes = isWanted ? `\n# Their own words\n${copySentences(request)}` : '';
  return `# Asked to remember\n- ${codeIn(request) ?? 'none'}\n# Facts\n- They talk about birds.${quotes}`;
}

/** Copies every sentence that begins with "Remember", even inside a quotation. */
function copySentences(request: ModelRequest): string {
  const record = request.messages.map(({ content }) => content).join('\n');
  return [...record.matchAll(/Remember: [^\n]*/g)].map(([words]) => `- ${words}`).join('\n');
}
