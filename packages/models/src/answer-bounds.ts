import { withoutNoncharacters } from '@parley/core';
import type { AnswerPart } from './answer-parts.ts';
import type { AnswerCut, ModelEvent, ModelToolCall } from './chat-model.ts';

/**
 * The most that one answer of a model may have. It is counted while the answer streams: at a bound the
 * connection to the provider is ended, so that no answer fills the memory, whatever a model writes.
 */
export interface AnswerBounds {
  /** The length of its text. */
  readonly characters: number;
  /** The length of its reasoning before and between. */
  readonly reasoningCharacters: number;
  /** The size of the arguments of all its calls together. */
  readonly argumentBytes: number;
  readonly calls: number;
}

/** The text is some 20 printed pages; arguments hold a long file. */
export const DEFAULT_ANSWER_BOUNDS: AnswerBounds = {
  characters: 50_000,
  reasoningCharacters: 400_000,
  argumentBytes: 256_000,
  calls: 20,
};

/** The beginning of cut arguments that the model is shown, in characters. */
const HEAD_CHARACTERS = 100;

/** A call whose arguments are arriving; most providers say only at the end which calls are complete. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
  written: string;
}

/** Counts the parts of one answer, and passes on no more than its bounds allow. */
export interface AnswerMeter {
  /** A piece of text, as far as there is room. */
  text(piece: string): string;
  thought(piece: string): void;
  /** The text so far comes again as thoughts. */
  restart(): void;
  callStarts(id: string, name: string): void;
  callGrows(id: string, piece: string): void;
  /** The call to pass on: arguments that exceed the bound are replaced by a note. */
  callEnds(call: ModelToolCall): ModelToolCall;
  /** The bound that was exceeded; null while the answer may go on. */
  cut(): AnswerCut | null;
  /** The calls that were open when the answer was cut; the last of them has a note in place of its arguments. */
  openCalls(): readonly ModelToolCall[];
  /** All that the model has written, thoughts included; in characters, of arguments in bytes. */
  written(): number;
}

export function measureAnswer(bounds: AnswerBounds): AnswerMeter {
  const counted = { characters: 0, reasoningCharacters: 0, argumentBytes: 0, calls: 0 };
  let cut: AnswerCut | null = null;
  const open = new Map<string, OpenCall>();
  const count = (what: keyof AnswerBounds, amount: number): void => {
    counted[what] += amount;
    if (counted[what] > bounds[what]) cut ??= { what, most: bounds[what] };
  };
  const startCall = (id: string, name: string): OpenCall => {
    count('calls', 1);
    const call = { id, name, written: '' };
    open.set(id, call);
    return call;
  };
  const growCall = (call: OpenCall, piece: string): void => {
    count('argumentBytes', Buffer.byteLength(piece));
    if (cut === null) call.written += piece;
  };
  return {
    text(piece) {
      const room = bounds.characters - counted.characters;
      count('characters', piece.length);
      return piece.length <= room ? piece : wholeCharacters(piece.slice(0, room));
    },
    thought: (piece) => count('reasoningCharacters', piece.length),
    restart() {
      counted.characters = 0;
    },
    callStarts: (id, name) => void startCall(id, name),
    callGrows(id, piece) {
      const call = open.get(id);
      if (call !== undefined) growCall(call, piece);
    },
    callEnds(call) {
      // Not every provider sends arguments in pieces.
      if (!open.has(call.id)) growCall(startCall(call.id, call.name), call.arguments);
      open.delete(call.id);
      return cut === null ? call : { ...call, arguments: cutNote(cut, call.arguments) };
    },
    cut: () => cut,
    openCalls: () =>
      [...open.values()].map(({ id, name, written }, at) => {
        const isCut = at === open.size - 1;
        return { id, name, arguments: isCut && cut !== null ? cutNote(cut, written) : written };
      }),
    written: () => counted.characters + counted.reasoningCharacters + counted.argumentBytes,
  };
}

/** In place of the arguments; it is no JSON, so the call is not run, and the model is shown it as the reason. */
function cutNote({ what, most }: AnswerCut, written: string): string {
  const bound = {
    characters: 'characters of text',
    reasoningCharacters: 'characters of thoughts',
    argumentBytes: 'bytes of arguments',
    calls: 'calls',
  }[what];
  const beginning = wholeCharacters(written.slice(0, HEAD_CHARACTERS));
  return `[Cut off: one answer has at most ${most} ${bound}.] ${beginning}`;
}

/** Without half a surrogate pair at the end. */
function wholeCharacters(text: string): string {
  return text.isWellFormed() ? text : text.replace(/[\uD800-\uDBFF]$/, '');
}

/** Adds a part to the answer that is measured; returns what the caller hears of it, if anything. */
export function takePart(meter: AnswerMeter, part: AnswerPart): ModelEvent | null {
  switch (part.type) {
    case 'text': {
      const text = meter.text(withoutNoncharacters(part.text));
      return text === '' ? null : { type: 'text', text };
    }
    case 'reasoning':
      meter.thought(part.text);
      return null;
    case 'restart':
      meter.restart();
      return part;
    case 'call-start':
      meter.callStarts(part.id, part.name);
      return null;
    case 'call-input':
      meter.callGrows(part.id, part.text);
      return null;
    case 'tool-call':
      return { type: 'tool-call', call: meter.callEnds(part.call) };
    default:
      return null;
  }
}
