import { stripNoncharacters } from '@parley/core';
import type { AnswerPart } from './answer-parts.ts';
import type { ExceededAnswerLimit, ModelEvent, ModelToolCall } from './chat-model.ts';

/**
 * Limits on the length of a model's answer. The answer is measured while it streams, and the
 * connection to the provider is closed at a limit, so that no answer can fill the memory.
 */
export interface AnswerLimits {
  /** The maximum length of the text. */
  readonly characters: number;
  /** The maximum length of the reasoning. */
  readonly reasoningCharacters: number;
  /** The maximum total size of the arguments of all calls. */
  readonly argumentBytes: number;
  readonly calls: number;
}

/** The default for text is about 20 printed pages; the default for arguments allows a long file. */
export const DEFAULT_ANSWER_BOUNDS: AnswerLimits = {
  characters: 50_000,
  reasoningCharacters: 400_000,
  argumentBytes: 256_000,
  calls: 20,
};

/** How many characters of truncated arguments are shown to the model. */
const HEAD_CHARACTERS = 100;

/**
 * A call whose arguments are still arriving; most providers report only at the end which calls are
 * complete.
 */
interface IncompleteCall {
  readonly id: string;
  readonly name: string;
  written: string;
}

/** Measures the parts of one answer, and passes on only what its limits allow. */
export interface AnswerMeter {
  /** Returns the part of a text fragment that fits within the limit. */
  text(piece: string): string;
  thought(piece: string): void;
  /** Counts all text received so far as reasoning. */
  restart(): void;
  callStarts(id: string, name: string): void;
  callGrows(id: string, piece: string): void;
  /** Returns the call to pass on; arguments that exceed the limit are replaced by a note. */
  callEnds(call: ModelToolCall): ModelToolCall;
  /** The limit that was exceeded; null while the answer is within its limits. */
  cut(): ExceededAnswerLimit | null;
  /**
   * The calls that were open when the answer was cut off; the last of them has a note in place of
   * its arguments.
   */
  openCalls(): readonly ModelToolCall[];
  /**
   * Counts everything that the model has written, including reasoning, in characters; arguments in
   * bytes.
   */
  written(): number;
}

export function createAnswerMeter(bounds: AnswerLimits): AnswerMeter {
  const counted = { characters: 0, reasoningCharacters: 0, argumentBytes: 0, calls: 0 };
  let cut: ExceededAnswerLimit | null = null;
  const open = new Map<string, IncompleteCall>();
  const count = (what: keyof AnswerLimits, amount: number): void => {
    counted[what] += amount;
    if (counted[what] > bounds[what]) cut ??= { what, most: bounds[what] };
  };
  const startCall = (id: string, name: string): IncompleteCall => {
    count('calls', 1);
    const call = { id, name, written: '' };
    open.set(id, call);
    return call;
  };
  const growCall = (call: IncompleteCall, piece: string): void => {
    count('argumentBytes', Buffer.byteLength(piece));
    if (cut === null) call.written += piece;
  };
  return {
    text(piece) {
      const room = bounds.characters - counted.characters;
      count('characters', piece.length);
      return piece.length <= room ? piece : trimHalfSurrogate(piece.slice(0, room));
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
      // Not every provider streams arguments in fragments.
      if (!open.has(call.id)) growCall(startCall(call.id, call.name), call.arguments);
      open.delete(call.id);
      return cut === null
        ? call
        : { ...call, arguments: describeExceededLimit(cut, call.arguments) };
    },
    cut: () => cut,
    openCalls: () =>
      [...open.values()].map(({ id, name, written }, at) => {
        const isCut = at === open.size - 1;
        return {
          id,
          name,
          arguments: isCut && cut !== null ? describeExceededLimit(cut, written) : written,
        };
      }),
    written: () => counted.characters + counted.reasoningCharacters + counted.argumentBytes,
  };
}

/**
 * Replaces the arguments. The replacement is not JSON, so the call does not run, and the text tells
 * the model why.
 */
function describeExceededLimit({ what, most }: ExceededAnswerLimit, written: string): string {
  const bound = {
    characters: 'characters of text',
    reasoningCharacters: 'characters of thoughts',
    argumentBytes: 'bytes of arguments',
    calls: 'calls',
  }[what];
  const beginning = trimHalfSurrogate(written.slice(0, HEAD_CHARACTERS));
  return `[Cut off: one answer has at most ${most} ${bound}.] ${beginning}`;
}

/** Removes half of a surrogate pair from the end of the text. */
function trimHalfSurrogate(text: string): string {
  return text.isWellFormed() ? text : text.replace(/[\uD800-\uDBFF]$/, '');
}

/** Adds a part to the measured answer and returns the event for the caller, if any. */
export function measurePart(meter: AnswerMeter, part: AnswerPart): ModelEvent | null {
  switch (part.type) {
    case 'text': {
      const text = meter.text(stripNoncharacters(part.text));
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
