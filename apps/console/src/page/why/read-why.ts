import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

/** A message as its platform names it; its text is not told here. */
export interface NamedMessage {
  /** What the gateway is asked with. */
  readonly name: string;
  readonly channel: string;
  readonly chatId: string;
  readonly messageId: string;
  /** In ms. */
  readonly at: number;
}

/** One thing that happened to a message. Times in ms; null where nobody noted them. */
export interface Stage {
  readonly stage: string;
  readonly at: number | null;
  readonly ms: number | null;
  readonly words: string;
  readonly detail: string;
  readonly isMarked: boolean;
}

/** What became of a message, or which of several may be meant. */
export type Why =
  | {
      readonly kind: 'found';
      readonly message: NamedMessage;
      /** The turn whose prompt is kept. */
      readonly turnId: string | null;
      readonly verdict: string;
      readonly stages: readonly Stage[];
    }
  | { readonly kind: 'several'; readonly candidates: readonly NamedMessage[] }
  | { readonly kind: 'unknown' };

/** Reads what the gateway says of a message; null for anything this page cannot show. */
export function readWhy(data: unknown): Why | null {
  const { kind, candidates, timeline } = fieldsOf(data);
  if (kind === 'unknown') return { kind };
  if (kind === 'several') return { kind, candidates: listOf(candidates).flatMap(readName) };
  if (kind !== 'found') return null;
  const fields = fieldsOf(timeline);
  const [message] = readName(fields.message);
  if (message === undefined) return null;
  const detail = textOf(fields.detail);
  return {
    kind,
    message,
    turnId: fields.hasPrompt === true ? textOf(fields.turnId) : null,
    verdict: detail === '' ? textOf(fields.verdict) : `${textOf(fields.verdict)} (${detail})`,
    stages: listOf(fields.entries).map(readStage),
  };
}

/** Reads the newest messages. */
export function readRecent(data: unknown): readonly NamedMessage[] {
  return listOf(fieldsOf(data).messages).flatMap(readName);
}

function readName(data: unknown): NamedMessage[] {
  const { channel, account, chatId, messageId, at } = fieldsOf(data);
  if (typeof channel !== 'string' || typeof messageId !== 'string') return [];
  const chat = textOf(chatId);
  const name = `${channel}/${textOf(account)}:${chat}/${messageId}`;
  return [{ name, channel, chatId: chat, messageId, at: numberOf(at) }];
}

function readStage(data: unknown): Stage {
  const { stage, at, ms, words, detail, mark } = fieldsOf(data);
  return {
    stage: textOf(stage),
    at: typeof at === 'number' ? at : null,
    ms: typeof ms === 'number' ? ms : null,
    words: textOf(words),
    detail: textOf(detail),
    isMarked: mark !== undefined,
  };
}
