import { type AnswerPart, type FinishReason, StreamFailure } from '../answer-parts.ts';
import { toFinishReasonName } from '../finish-reason.ts';
import { isObject, type JsonObject } from '../json-object.ts';
import { CallCollector } from './gather-calls.ts';
import { toNonEmptyText } from './json-scan.ts';
import { EventReader, type WireEvent } from './read-events.ts';
import { findChunkError } from './wire-errors.ts';
import { addUsage, NO_USAGE, toReportedUsage } from './wire-usage.ts';

/** An irregularity that did not invalidate an answer; it is counted, and named in the log. */
export type Oddity =
  /** Text between events that is not JSON. */
  | 'unreadable'
  /** JSON that does not contain any part of an answer. */
  | 'unknown-event'
  /** Text or reasoning in an unknown format. */
  | 'unknown-content'
  /** A call without a name. */
  | 'nameless-call'
  /** The answer ended without a finish reason. */
  | 'no-finish-reason'
  | 'error-after-answer';

/** Facts about the call that the reader of its answer needs. */
export interface AnswerContext {
  /** Headers of the response; names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The names of the offered tools. */
  readonly offered: ReadonlySet<string>;
  note(oddity: Oddity): void;
}

/** The parts of an answer so far. */
interface CollectedAnswer {
  text: string;
  reasoning: string;
  hasRefusal: boolean;
  hasCalls: boolean;
  /** Whether text arrived in fragments. */
  hasDeltas: boolean;
  /** Whether any received data looked like an answer from a model. */
  isAnswer: boolean;
  isDone: boolean;
  unreadable: number;
  rawReason: string | null;
  /** Whether messages arrive in fragments; null if that is not known yet. */
  areMessagesPieces: boolean | null;
  servedModel: string | null;
}

/**
 * Converts the bytes of one answer in OpenAI's chat format to parts, however the bytes are split.
 */
export class AnswerReader {
  readonly #context: AnswerContext;
  readonly #decoder = new TextDecoder();
  readonly #events = new EventReader();
  readonly #calls: CallCollector;
  readonly #seen: CollectedAnswer = {
    text: '',
    reasoning: '',
    hasRefusal: false,
    hasCalls: false,
    hasDeltas: false,
    isAnswer: false,
    isDone: false,
    unreadable: 0,
    rawReason: null,
    areMessagesPieces: null,
    servedModel: null,
  };
  #usage = NO_USAGE;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#calls = new CallCollector(context.offered);
  }

  push(bytes: Uint8Array): readonly AnswerPart[] {
    const parts: AnswerPart[] = [{ type: 'alive' }];
    const text = this.#decoder.decode(bytes, { stream: true });
    for (const event of this.#events.push(text)) this.#take(event, parts);
    return parts;
  }

  /** Whether the stream sent its end marker. */
  isDone(): boolean {
    return this.#seen.isDone;
  }

  /**
   * Whether any part of an answer has arrived. Some servers send a finish reason with every chunk.
   */
  says(): boolean {
    return this.#seen.text !== '' || this.#seen.hasCalls;
  }

  /**
   * Whether the answer is complete, so that later errors are ignored: it has a finish reason, or
   * the stream sent its end marker.
   */
  isComplete(): boolean {
    const { isDone, rawReason } = this.#seen;
    return isDone || (rawReason !== null && toUnifiedReason(this.#seen) !== 'error');
  }

  #take(event: WireEvent, parts: AnswerPart[]): void {
    if (event.type === 'done') this.#seen.isDone = true;
    else if (this.#seen.isDone) this.#takeLateCounts(event);
    else if (event.type === 'unreadable') {
      this.#seen.unreadable += 1;
      this.#context.note('unreadable');
    } else if (isObject(event.value)) this.#takeChunk(event.value, event.name, parts);
    else this.#context.note('unknown-event');
  }

  /** After the end of a stream only token counts are still relevant. */
  #takeLateCounts(event: WireEvent): void {
    if (event.type === 'json' && isObject(event.value)) {
      this.#usage = addUsage(this.#usage, event.value);
    }
  }

  #takeChunk(chunk: JsonObject, name: string, parts: AnswerPart[]): void {
    const wasComplete = this.isComplete();
    this.#usage = addUsage(this.#usage, chunk);
    this.#seen.servedModel = toNonEmptyText(chunk.model) ?? this.#seen.servedModel;
    const choice = findChoice(chunk);
    this.#seen.isAnswer ||= choice !== null || 'choices' in chunk;
    if (choice !== null) this.#takeChoice(choice, parts);
    const error = findChunkError(chunk, {
      name,
      headers: this.#context.headers,
      isAnswer: choice !== null,
    });
    if (error !== null && wasComplete) this.#context.note('error-after-answer');
    else if (error !== null) parts.push({ type: 'error', error });
    else if (choice === null && !isExpectedChunk(chunk)) this.#context.note('unknown-event');
  }

  #takeChoice(choice: JsonObject, parts: AnswerPart[]): void {
    this.#seen.rawReason = readFinishReason(choice) ?? this.#seen.rawReason;
    const { delta, message, done } = choice;
    // Ollama's own format, in which each message is a fragment.
    if (typeof done === 'boolean') this.#seen.areMessagesPieces = true;
    if (isObject(delta) && hasContent(delta)) this.#takeSaid(delta, false, parts);
    else if (isObject(message)) this.#takeSaid(message, true, parts);
    else if (toNonEmptyText(message) !== null || toNonEmptyText(delta) !== null) {
      this.#addText(
        parts,
        'text',
        toNonEmptyText(delta) ?? this.#freshText('text', toNonEmptyText(message) ?? ''),
      );
    } else this.#addText(parts, 'text', toNonEmptyText(choice.text) ?? '');
  }

  #takeSaid(said: JsonObject, isWhole: boolean, parts: AnswerPart[]): void {
    const content = readContent(said.content ?? said.text, this.#context.note);
    const refusal = toNonEmptyText(said.refusal);
    this.#seen.hasRefusal ||= refusal !== null;
    const reasoning = getReasoning(said) + joinTexts(content, 'reasoning');
    const text = joinTexts(content, 'text') + (refusal ?? '');
    if (isWhole) {
      this.#addText(parts, 'reasoning', this.#freshText('reasoning', reasoning));
      this.#addText(parts, 'text', this.#freshText('text', text));
    } else {
      this.#seen.hasDeltas ||= text !== '';
      this.#addText(parts, 'reasoning', reasoning);
      this.#addText(parts, 'text', text);
    }
    const { tool_calls: toolCalls, function_call: legacy } = said;
    const made = hasEntries(toolCalls) ? toolCalls : isObject(legacy) ? [legacy] : [];
    for (const part of this.#calls.add(made, isWhole)) {
      this.#seen.hasCalls = true;
      parts.push(part);
    }
  }

  /**
   * Returns the new part of a `message`: some servers repeat the answer so far in each event, or
   * the whole answer after its fragments; others send fragments under this name.
   */
  #freshText(type: ContentPart['type'], text: string): string {
    const before = type === 'text' ? this.#seen.text : this.#seen.reasoning;
    if (before === '' || text === '' || this.#seen.areMessagesPieces === true) return text;
    if (text.startsWith(before)) return text.slice(before.length);
    // The two texts differ only in whitespace.
    if (text.trim() === before.trim()) return '';
    if (this.#seen.hasDeltas) return '';
    this.#seen.areMessagesPieces = true;
    return text;
  }

  #addText(parts: AnswerPart[], type: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    if (type === 'text') this.#seen.text += text;
    else this.#seen.reasoning += text;
    const last = parts.at(-1);
    // Text that arrived together forms one part.
    if (last?.type === type) parts[parts.length - 1] = { type, text: last.text + text };
    else parts.push({ type, text });
  }

  /**
   * Returns the calls and the end of the answer. `isClean`: the server ended its answer, and the
   * connection did not break. Throws a `StreamFailure` if there is no answer or only part of one.
   */
  end(isClean: boolean): readonly AnswerPart[] {
    const parts: AnswerPart[] = [];
    for (const event of this.#events.push(this.#decoder.decode())) this.#take(event, parts);
    const last = this.#events.end();
    // A partial event may be malformed; only its beginning was needed.
    for (const event of last.events) this.#take(event, parts);
    if (parts.some(({ type }) => type === 'error')) return parts;
    const says = this.says();
    if (!this.isComplete()) {
      if (!isClean || last.isCut || this.#calls.isOpen())
        throw new StreamFailure(says ? 'broken-off' : 'empty');
      if (says && this.#seen.rawReason === null) this.#context.note('no-finish-reason');
    }
    if (!this.#seen.isAnswer && !says)
      throw new StreamFailure(describeEmptyAnswer(this.#seen, this.#context.headers));
    const { calls: made, dropped } = this.#calls.end();
    for (let nth = 0; nth < dropped; nth += 1) this.#context.note('nameless-call');
    return [
      ...parts,
      ...made.map((call) => ({ type: 'tool-call', call }) as const),
      {
        type: 'finish',
        reason:
          this.#seen.rawReason === null && made.length > 0
            ? 'tool-calls'
            : toUnifiedReason(this.#seen),
        rawReason: this.#seen.rawReason,
        usage: toReportedUsage(this.#usage),
        servedModel: this.#seen.servedModel,
      },
    ];
  }
}

/** A web page is not an answer, and a stream that contains only pings is an empty answer. */
function describeEmptyAnswer(
  { unreadable, isDone }: CollectedAnswer,
  headers: Readonly<Record<string, string>>,
): 'rubbish' | 'empty' {
  if (unreadable > 0) return 'rubbish';
  return isDone || headers['content-type']?.includes('event-stream') ? 'empty' : 'rubbish';
}

/**
 * Stream events that do not contain any part of an answer: token counts, a filter's verdict on the
 * question, pings.
 */
function isExpectedChunk(chunk: JsonObject): boolean {
  const keys = Object.keys(chunk);
  return keys.length === 0 || 'choices' in chunk || 'usage' in chunk || 'type' in chunk;
}

/**
 * The choice in a chunk; if there are no choices, the chunk itself in other formats (Ollama's own,
 * TGI's).
 */
function findChoice(chunk: JsonObject): JsonObject | null {
  const { choices } = chunk;
  if (Array.isArray(choices)) return choices.find((choice) => isObject(choice)) ?? null;
  if (isObject(choices)) return choices;
  // Some gateways wrap the answer from another server.
  const inner = [chunk.result, chunk.output, chunk.data].find((one) => isObject(one));
  if (inner !== undefined) return findChoice(inner);
  if (isObject(chunk.delta) || isObject(chunk.message)) return chunk;
  const text =
    toNonEmptyText(chunk.response) ?? toNonEmptyText(chunk.content) ?? toNonEmptyText(chunk.text);
  if (text !== null) return { ...chunk, delta: { content: text } };
  return readFinishReason(chunk) === null ? null : chunk;
}

/**
 * Empty text and the text `null` (DashScope) are not finish reasons; Ollama's own format and
 * Anthropic's use separate fields.
 */
function readFinishReason(choice: JsonObject): string | null {
  const { finish_reason: reason, done_reason: ownReason, done, delta } = choice;
  const passedOn = isObject(delta) ? toNonEmptyText(delta.stop_reason) : null;
  const written =
    toNonEmptyText(reason) ??
    passedOn ??
    (done === true ? (toNonEmptyText(ownReason) ?? 'stop') : null);
  return written === null || /^(null|none)$/i.test(written) ? null : written;
}

function hasContent({ text, content = text, tool_calls, ...said }: JsonObject): boolean {
  const hasContent = content !== undefined && content !== null && content !== '';
  const hasCalls = hasEntries(tool_calls) || isObject(said.function_call);
  return (
    hasContent || hasCalls || toNonEmptyText(said.refusal) !== null || getReasoning(said) !== ''
  );
}

function hasEntries(list: unknown): boolean {
  return Array.isArray(list) ? list.length > 0 : isObject(list);
}

/** The field names that servers use for reasoning; some send the same text in two of them. */
const THOUGHT_NAMES = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text', 'thought'];

function getReasoning(said: JsonObject): string {
  const text = THOUGHT_NAMES.map((name) => toNonEmptyText(said[name])).find((one) => one !== null);
  if (text !== undefined) return text;
  const { reasoning, reasoning_details: details, thinking_blocks: blocks } = said;
  const lists: readonly unknown[] = [details, blocks];
  const parts = [
    reasoning,
    ...lists.flatMap((list): unknown[] => (Array.isArray(list) ? list : [])),
  ];
  return parts
    .filter((part) => isObject(part))
    .map(
      ({ text: own, summary, content, thinking }) =>
        toNonEmptyText(own) ??
        toNonEmptyText(summary) ??
        toNonEmptyText(content) ??
        toNonEmptyText(thinking) ??
        '',
    )
    .join('');
}

interface ContentPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

function joinTexts(said: readonly ContentPart[], type: ContentPart['type']): string {
  return said.map((one) => (one.type === type ? one.text : '')).join('');
}

/**
 * Returns text from a string, a list of parts, a single part, or a number that a model wrote and a
 * server parsed.
 */
function readContent(content: unknown, note: AnswerContext['note']): readonly ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (typeof content === 'number') return [{ type: 'text', text: String(content) }];
  if (Array.isArray(content)) return content.flatMap((part) => readContent(part, note));
  const said = isObject(content) ? toContentPart(content) : null;
  if (said === null) note('unknown-content');
  return said === null ? [] : [said];
}

function toContentPart(part: JsonObject): ContentPart | null {
  const type = /think|reason/i.test(String(part.type ?? '')) ? 'reasoning' : 'text';
  const inner = part.text ?? part.thinking ?? part.content ?? part.reasoning ?? part.value;
  if (typeof inner === 'string') return { type, text: inner };
  const list: unknown[] = Array.isArray(inner) ? inner : [inner];
  const texts = list
    .filter((one) => isObject(one))
    .map((one) => toNonEmptyText(one.text ?? one.value));
  const text = texts.filter((one) => one !== null).join('');
  return text === '' ? null : { type, text };
}

/**
 * Returns the finish reason in the terms of this package. A refusal is the finish reason, even if
 * the answer ended normally.
 */
function toUnifiedReason({ rawReason, hasRefusal }: CollectedAnswer): FinishReason {
  const reason = rawReason === null ? 'stop' : toFinishReasonName(rawReason);
  return reason === 'stop' && hasRefusal ? 'content-filter' : reason;
}
