import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ChatModel } from '@parley/models';
import type { HeartbeatOrder } from '@parley/store';
import { openTurnScene, type TurnScene } from '../../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../../testing/write-message.ts';

export type Proposing = (shown: string) => object | string;

export interface UpkeepScene {
  readonly turns: TurnScene;
  /** What the model was shown, run by run. */
  readonly shown: readonly string[];
  put(name: string, text: string): void;
  got(name: string): string;
  /** Stores a run that is due, in the owner's chat or for a group. */
  order(id: string, place?: 'direct' | 'group'): Promise<void>;
  run(id: string, place?: 'direct' | 'group'): Promise<string>;
  close(): Promise<void>;
}

const LANE = 'beat:main';
const TARGET = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;

/** Opens one at 14:05 in Berlin on 21 November 2026. */
export async function openUpkeepScene(propose: Proposing): Promise<UpkeepScene> {
  const shown: string[] = [];
  const turns = await openTurnScene({}, { model: proposingModel(propose, shown) });
  const order = async (id: string, place: 'direct' | 'group' = 'direct'): Promise<void> => {
    await turns.store.heartbeats.start(orderOf(id, place), null, 1);
  };
  return {
    turns,
    shown,
    put(name, text) {
      const path = join(turns.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    got: (name) => readFileSync(join(turns.folder, name), 'utf8'),
    order,
    async run(id, place) {
      await order(id, place);
      await turns.answerNext(LANE);
      const run = await turns.store.heartbeats.of(id);
      return `${run?.state}: ${run?.reason}`;
    },
    close: () => turns.close(),
  };
}

export function idOf(shown: string, words: string): string {
  const line = shown.split('\n').find((one) => one.includes(words) && /^> \[/.test(one));
  return /^> \[([MN]\d+)\]/.exec(line ?? '')?.[1] ?? `nothing with ${words}`;
}

function proposingModel(propose: Proposing, shown: string[]): ChatModel {
  const id = 'test/model';
  return {
    id,
    async *stream({ messages }) {
      const content = messages.at(-1)?.content ?? '';
      shown.push(content);
      const proposal = propose(content);
      const text = typeof proposal === 'string' ? proposal : JSON.stringify(proposal);
      yield { type: 'text', text };
      const usage = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 0, estimated: false };
      yield { type: 'finish', text, usage, finishReason: 'stop', model: id, costUsd: null };
    },
  };
}

function orderOf(id: string, place: 'direct' | 'group'): HeartbeatOrder {
  const chatId = place === 'direct' ? OWNER_CHAT : 'g';
  const variables = { task: 'memory', instruction: '-', schedule: '-', routine: 'memory-upkeep' };
  return {
    id,
    agent: 'main',
    task: 'memory',
    target: chatId,
    message: {
      conversationId: LANE,
      route: { ...PLACE, chatId, chatType: place, target: TARGET },
      receivedAt: 1,
      fromOwner: place === 'direct',
      message: {
        ...PLACE,
        messageId: id,
        chat: { id: LANE, type: place },
        sender: { id: '1', name: 'Ann', isBot: false },
        text: '⚙️ Heartbeat.',
        mentions: [],
        addressed: true,
        sentAt: 1,
        variables,
        trigger: 'heartbeat',
      },
    },
  };
}
