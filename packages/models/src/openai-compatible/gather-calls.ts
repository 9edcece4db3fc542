import type { AnswerPart } from '../answer-parts.ts';
import type { ModelToolCall } from '../chat-model.ts';
import { isObject, type JsonObject } from '../json-object.ts';
import {
  type JsonScan,
  NOTHING_SCANNED,
  parseJson,
  scanJson,
  toLenientNumber,
  toNonEmptyText,
} from './json-scan.ts';

interface IncompleteCall {
  /** The id of the call, unique within the answer even if the server repeats ids. */
  readonly id: string;
  /** The id that the server sent; null until it arrives. */
  givenId: string | null;
  index: number | null;
  name: string;
  written: string;
  scan: JsonScan;
  /**
   * The latest fragment that was a complete object by itself: some servers send the complete
   * arguments at the end.
   */
  whole: string | null;
  signature: string | undefined;
}

/** One fragment of a call, with the fields that could be parsed. */
interface CallFragment {
  readonly id: string | null;
  readonly index: number | null;
  readonly name: string;
  readonly input: string;
  readonly signature: string | undefined;
}

/**
 * Joins the fragments of calls. Servers disagree on how fragments belong together: index and id may
 * be missing, repeated, always zero or new in each fragment; names are repeated or split; arguments
 * arrive as objects, or in full after they arrived in fragments. `offered` contains the tool names,
 * which distinguish part of a name from a second call.
 */
export class CallCollector {
  readonly #calls: IncompleteCall[] = [];
  readonly #offered: ReadonlySet<string>;

  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered;
  }

  /**
   * Adds the `tool_calls` of a chunk. `isWhole`: the calls belong to a message, so they are
   * complete and in order.
   */
  add(toolCalls: unknown, isWhole: boolean): readonly AnswerPart[] {
    const list: unknown[] = Array.isArray(toolCalls) ? toolCalls : [toolCalls];
    const parts: AnswerPart[] = [];
    for (const [position, one] of list.entries()) {
      if (!isObject(one)) continue;
      const place = isWhole || list.length > 1 ? position : null;
      this.#addPiece(toCallFragment(one, place), parts);
    }
    return parts;
  }

  #addPiece(piece: CallFragment, parts: AnswerPart[]): void {
    const known = this.#targetOf(piece);
    const call = known ?? this.#open(piece);
    if (known === null) parts.push({ type: 'call-start', id: call.id, name: piece.name });
    call.givenId ??= piece.id;
    call.index ??= piece.index;
    call.signature ??= piece.signature;
    if (known !== null) call.name = this.#longerName(call, piece.name);
    const input = findNewInput(call, piece.input);
    if (input === '') return;
    if (isCompleteObject(input)) call.whole = input;
    call.written += input;
    call.scan = scanJson(call.scan, input).scan;
    parts.push({ type: 'call-input', id: call.id, text: input });
  }

  #open({ id, index, name }: CallFragment): IncompleteCall {
    const isFree = id !== null && this.#calls.every((call) => call.id !== id);
    const call: IncompleteCall = {
      id: isFree ? id : this.#freeId(),
      givenId: id,
      index,
      name,
      written: '',
      scan: NOTHING_SCANNED,
      whole: null,
      signature: undefined,
    };
    this.#calls.push(call);
    return call;
  }

  #freeId(): string {
    let nth = this.#calls.length + 1;
    while (this.#calls.some(({ id }) => id === `call_${nth}`)) nth += 1;
    return `call_${nth}`;
  }

  /** Returns the call that a fragment continues; null if it starts a new call. */
  #targetOf(piece: CallFragment): IncompleteCall | null {
    const { id, index } = piece;
    const named = id === null ? undefined : this.#calls.findLast((call) => call.givenId === id);
    if (named !== undefined) {
      const isElsewhere = index !== null && named.index !== null && index !== named.index;
      if (!isElsewhere) return this.#continues(named, piece) ? named : null;
      return this.#calls.findLast((call) => call.index === index && call.givenId === id) ?? null;
    }
    const before =
      index === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (before === undefined) {
      // If a server stops numbering its fragments, they continue the last call.
      return index === null || piece.name !== '' || id !== null
        ? null
        : (this.#calls.at(-1) ?? null);
    }
    if (id === null || before.givenId === null)
      return this.#continues(before, piece) ? before : null;
    return this.#continuesUnderNewId(before, piece) ? before : null;
  }

  #continues(call: IncompleteCall, { name, input, index }: CallFragment): boolean {
    if (name === '' || call.name === '') return true;
    if (name !== call.name && this.#offered.has(name) && this.#offered.has(call.name)) return false;
    if (call.written === '') return true;
    if (!call.scan.isClosed) {
      const isSamePlace = index !== null && index === call.index;
      return !isCompleteObject(input) || isSamePlace;
    }
    if (input === '') return name === call.name && index !== null && index === call.index;
    return isSameJson(input, call.written);
  }

  /**
   * Some servers create a new id for each fragment; an id that arrives with a name starts a call.
   */
  #continuesUnderNewId(call: IncompleteCall, { name, input }: CallFragment): boolean {
    if (call.scan.isClosed) return name === '' && call.written.trim() === '{}';
    if (name === '') return true;
    return name === call.name && call.written !== '' && !input.trimStart().startsWith('{');
  }

  #longerName(call: IncompleteCall, name: string): string {
    if (name === '' || name === call.name || call.written !== '') return call.name || name;
    if (this.#offered.has(call.name)) return call.name;
    return name.startsWith(call.name) ? name : call.name + name;
  }

  /** Whether the arguments of a call have started but not ended. */
  isOpen(): boolean {
    return this.#calls.some(({ written, scan }) => written.trim() !== '' && !scan.isClosed);
  }

  /**
   * Returns all calls in the server's order, and the number of calls dropped because they had no
   * name.
   */
  end(): { readonly calls: readonly ModelToolCall[]; readonly dropped: number } {
    const named = this.#calls.filter(({ name }) => name.trim() !== '');
    return {
      calls: sortByIndex(named).map(toToolCall),
      dropped: this.#calls.length - named.length,
    };
  }
}

function toCallFragment(wire: JsonObject, position: number | null): CallFragment {
  const { id, index } = wire;
  const own = isObject(wire.function) ? wire.function : wire;
  const extra = isObject(wire.extra_content) ? wire.extra_content.google : null;
  return {
    id: toNonEmptyText(id) ?? (typeof id === 'number' ? String(id) : null),
    index: toLenientNumber(index) ?? position,
    name: toNonEmptyText(own.name) ?? '',
    input: toArgumentsText(own.arguments),
    signature: (isObject(extra) ? toNonEmptyText(extra.thought_signature) : null) ?? undefined,
  };
}

/** The protocol requires arguments to be a string; some servers send an object. */
function toArgumentsText(given: unknown): string {
  if (given === undefined || given === null || given === 'null') return '';
  if (typeof given === 'string') return given;
  // PHP serializes an empty object as an empty list.
  return Array.isArray(given) && given.length === 0 ? '{}' : JSON.stringify(given);
}

/** Returns the new part of the arguments in a fragment; empty if the fragment only repeats them. */
function findNewInput(call: IncompleteCall, input: string): string {
  if (!call.scan.isClosed || input.trim() === '') return input;
  if (isSameJson(input, call.written)) return '';
  // An empty object was a placeholder for the arguments that follow.
  if (call.written.trim() === '{}') {
    call.written = '';
    call.scan = NOTHING_SCANNED;
  }
  return input;
}

function isCompleteObject(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith('{') && trimmed.endsWith('}') && isObject(parseJson(trimmed));
}

function isSameJson(one: string, other: string): boolean {
  if (one === other) return true;
  const value = parseJson(one);
  return value !== undefined && JSON.stringify(value) === JSON.stringify(parseJson(other));
}

/**
 * Sorts calls by index if each call has a distinct index; otherwise leaves them in order of
 * arrival.
 */
function sortByIndex(calls: readonly IncompleteCall[]): readonly IncompleteCall[] {
  const indices = new Set(calls.map(({ index }) => index));
  const areNumbered = indices.size === calls.length && !indices.has(null);
  return areNumbered ? calls.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)) : calls;
}

function toToolCall({ id, name, written, whole, signature }: IncompleteCall): ModelToolCall {
  const isValid = whole === null || isObject(parseJson(written));
  return {
    id,
    name,
    arguments: isValid ? written : whole,
    ...(signature !== undefined && { signature }),
  };
}
