import { isObject } from '../json-object.ts';
import { type JsonScan, NOTHING_SCANNED, parseJson, repairJson, scanJson } from './json-scan.ts';

/** A unit of content from a server; comments, empty events and event boundaries do not count. */
export type WireEvent =
  /** `name` is the name of the event, which is usually empty; `value` is never null. */
  | { readonly type: 'json'; readonly name: string; readonly value: unknown }
  | { readonly type: 'done' }
  /** Text that is not JSON, such as a page from a gateway or a partial event. */
  | { readonly type: 'unreadable' };

/**
 * The maximum size of an event, and of an answer that is not a stream, in characters: a hundred
 * times the usual size.
 */
const MAX_EVENT = 4 * 1_024 * 1_024;

/** A value that started on an earlier line. */
interface PendingValue {
  text: string;
  scan: JsonScan;
  /**
   * Whether a blank line has arrived since the value started, so that the server has ended its
   * event within the value.
   */
  isDivided: boolean;
}

/**
 * The maximum number of values on one line, for servers that omit the line breaks between events.
 */
const MAX_VALUES_OF_LINE = 1_000;

const FIELD = /^[\s\uFEFF]*(data|event|id|retry|error)[ \t]*(?::[ \t]?(.*))?$/is;
const DONE = /^["'[\s]*DONE["'\]\s]*$/i;
/** An end marker without a line break, on a connection that stays open. */
const DONE_AT_END = /^[\s\uFEFF]*data:\s*\[DONE\]$/;
/** A connection that closes in the middle of the end marker. */
const DONE_CUT = /^\s*(?:d?a?t?a?:?|data:\s*\[D?O?N?E?)$/;
/** Text between the elements of a list with one element per line. */
const PUNCTUATION = /^[\s,\][]*$/;

/**
 * Parses server-sent events as servers write them rather than as the standard requires: a line of
 * data that is JSON by itself is processed as an event immediately, so blank lines may be missing;
 * JSON may span several lines and events; lines of JSON without `data:` are accepted as well (a
 * plain answer, pretty-printed or not, and one object per line).
 */
export class EventReader {
  #rest = '';
  #afterReturn = false;
  #name = '';
  #open: PendingValue | null = null;
  #events: WireEvent[] = [];

  push(text: string): readonly WireEvent[] {
    const unix = this.#withoutReturns(text);
    this.#rest += unix;
    if (unix.includes('\n')) {
      const lines = this.#rest.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#readLine(line);
    }
    if (this.#rest.length > MAX_EVENT) throw createEventTooLargeError();
    if (this.#rest.length < 40 && DONE_AT_END.test(this.#rest)) {
      this.#readLine(this.#rest);
      this.#rest = '';
    }
    return this.#taken();
  }

  /**
   * Returns the remaining events; the last line may have no line break. `isCut`: the stream ended
   * within a value.
   */
  end(): { readonly events: readonly WireEvent[]; readonly isCut: boolean } {
    if (!DONE_CUT.test(this.#rest)) this.#readLine(this.#rest);
    this.#rest = '';
    const isCut = this.#open !== null;
    this.#dropOpen();
    return { events: this.#taken(), isCut };
  }

  #taken(): readonly WireEvent[] {
    const found = this.#events;
    this.#events = [];
    return found;
  }

  /** Line breaks are LF, CRLF or CR; a CRLF may be split between two chunks. */
  #withoutReturns(text: string): string {
    const isRest = this.#afterReturn && text.startsWith('\n');
    this.#afterReturn = text === '' ? this.#afterReturn : text.endsWith('\r');
    const own = isRest ? text.slice(1) : text;
    return own.includes('\r') ? own.replace(/\r\n?/g, '\n') : own;
  }

  #readLine(line: string): void {
    if (line === '') {
      this.#name = '';
      if (this.#open !== null) this.#open.isDivided = true;
      return;
    }
    let left = this.#readPart(line);
    for (let nth = 1; left !== ''; nth += 1) {
      if (nth === MAX_VALUES_OF_LINE) return void this.#events.push({ type: 'unreadable' });
      left = this.#readPart(left);
    }
  }

  /** Returns the remainder of the line after the value at its beginning. */
  #readPart(line: string): string {
    if (line.startsWith(':')) return '';
    if (line.startsWith('data: ')) return this.#readData(line.slice(6));
    const [, field, value = ''] = FIELD.exec(line) ?? [];
    switch (field?.toLowerCase()) {
      case 'data':
        return this.#readData(value);
      case 'event':
        this.#name = value.trim();
        return '';
      case 'error':
        // llama.cpp.
        this.#name = 'error';
        return this.#readData(value);
      case undefined:
        return this.#readBare(line);
      default:
        return '';
    }
  }

  #readData(value: string): string {
    // Some gateways add a second `data:` prefix to the lines from another server.
    const own = value.replace(/^\s*(?:data:[ \t]?)+/i, '');
    const text = own.trim();
    if (text === '') return '';
    if (!DONE.test(text)) return this.#readText(own, text);
    this.#dropOpen();
    this.#events.push({ type: 'done' });
    return '';
  }

  #readBare(line: string): string {
    const text = line.replace(/^[\s\uFEFF]+/, '').trimEnd();
    if (this.#open !== null) return this.#readText(line, text);
    if (/^[[,\s]*\{/.test(text)) return this.#readText(text, text);
    if (DONE.test(text)) this.#events.push({ type: 'done' });
    else if (!PUNCTUATION.test(text)) this.#events.push({ type: 'unreadable' });
    return '';
  }

  /** `text` is the line without the prefix and separators around a value. */
  #readText(line: string, text: string): string {
    const whole = parseJson(text);
    if (whole !== undefined && (this.#open === null || isSeparateEvent(this.#open, whole))) {
      this.#dropOpen();
      this.#pushValue(whole);
      return '';
    }
    if (this.#open !== null) return this.#grow(this.#open, line);
    // A top-level list is parsed element by element.
    const element = line.replace(/^[[,\s\uFEFF]+/, '');
    if (element.startsWith('{')) {
      this.#open = { text: '', scan: NOTHING_SCANNED, isDivided: false };
      return this.#grow(this.#open, element);
    }
    if (/error/i.test(this.#name)) this.#pushValue({ error: text });
    else this.#events.push({ type: 'unreadable' });
    return '';
  }

  #pushValue(value: unknown): void {
    // Some gateways write the JSON of an event as a JSON string.
    const inner = typeof value === 'string' ? (parseJson(value) ?? value) : value;
    for (const one of Array.isArray(inner) ? inner : [inner]) {
      if (one !== null) this.#events.push({ type: 'json', name: this.#name, value: one });
    }
  }

  #grow(value: PendingValue, line: string): string {
    // A line break inside a string was meant literally, but a boundary between two events was not.
    const isWithin = value.text !== '' && value.scan.inString && !value.isDivided;
    const piece = isWithin ? `\\n${line}` : line;
    const { scan, end: at } = scanJson(value.scan, piece);
    value.text += piece.slice(0, at);
    value.scan = scan;
    value.isDivided = false;
    if (value.text.length > MAX_EVENT) throw createEventTooLargeError();
    if (!scan.isClosed) return '';
    this.#open = null;
    const parsed = parseJson(value.text) ?? parseJson(repairJson(value.text));
    if (parsed === undefined) this.#events.push({ type: 'unreadable' });
    else this.#pushValue(parsed);
    return piece.slice(at).replace(/^[,\s]+/, '');
  }

  #dropOpen(): void {
    if (this.#open !== null) this.#events.push({ type: 'unreadable' });
    this.#open = null;
  }
}

/** Whether a line is a separate event rather than a continuation of the open value. */
function isSeparateEvent(open: PendingValue, value: unknown): boolean {
  if (!isObject(value)) return false;
  const isAnswer = 'choices' in value || 'error' in value;
  return isAnswer || open.isDivided;
}

function createEventTooLargeError(): Error {
  return new Error(`it sent more than ${MAX_EVENT} bytes at once`);
}
