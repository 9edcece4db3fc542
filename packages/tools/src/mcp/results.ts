import { cleanLines } from './clean.ts';
import { type McpFile, type Part, readPart } from './result-parts.ts';
import { type Block, blockOf, ownValue } from './schema/json-block.ts';

/** The result of a call, as text. `failed`: the server says that it did not work. */
export interface McpResult {
  readonly text: string;
  readonly failed: boolean;
  readonly files?: readonly McpFile[];
}

/** More files of one result are left out. */
const MAX_FILES = 10;
/** Parts of one result that are read. */
const MAX_PARTS = 1_000;

/** The part of a result that a model can be shown; the length is bounded by the caller. */
export function resultText(said: unknown): McpResult {
  const result = blockOf(said);
  if (result === undefined || Array.isArray(said)) {
    // Some answer with the text, or with the list of parts, itself.
    return resultText({ content: said });
  }
  const parts = readParts(result);
  const read = parts.slice(0, MAX_PARTS).map((part, nth) => readPart(part, nth));
  const texts: string[] = read.map(({ text }) => text);
  if (parts.length > MAX_PARTS) texts.push(`[${parts.length - MAX_PARTS} more parts: not shown]`);
  const structured = structuredOf(result);
  // Well-behaved servers say the same twice, as text and as values.
  if (texts.every((text) => text.length === 0) && structured !== undefined) {
    texts.splice(0, texts.length, JSON.stringify(structured));
  }
  const { files, note } = collectFiles(read);
  if (note !== null) texts.push(note);
  const text = cleanLines(texts.join('\n')) || '[The answer has no content.]';
  return { text, failed: isFailure(result), ...(files.length > 0 && { files }) };
}

/** The parts, wherever a server of an older protocol, or one that reads it loosely, has put them. */
function readParts(result: Block): readonly unknown[] {
  const { content, toolResult, error } = result;
  if (Array.isArray(content)) return content;
  if (content !== undefined && content !== null) return [content];
  if (Array.isArray(toolResult)) return toolResult;
  if (toolResult !== undefined) {
    return [typeof toolResult === 'string' ? toolResult : JSON.stringify(toolResult)];
  }
  if (typeof error === 'string') return [error];
  const { message, ...values } = blockOf(error) ?? {};
  if (typeof message === 'string') return [message];
  if (Object.keys(values).length > 0) return [JSON.stringify(error)];
  return [];
}

/** Keys that say nothing to a model. */
const PROTOCOL_KEYS = new Set([
  '_meta',
  'content',
  'isError',
  'is_error',
  'resultType',
  'toolResult',
  'error',
]);

/** The values of a result; where the protocol's own key is missing, all that the result holds. */
function structuredOf(result: Block): unknown {
  const named = ownValue(result, 'structuredContent');
  if (named !== undefined && named !== null) return named;
  const others = Object.entries(result).filter(
    ([key, value]) => !PROTOCOL_KEYS.has(key) && value !== null,
  );
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** A failure may be told as a text, a number or the error itself. */
function isFailure({ is_error: otherwise, isError = otherwise, error }: Block): boolean {
  if (typeof isError === 'string') return /^(true|yes|1)$/i.test(isError.trim());
  if (typeof isError === 'boolean' || typeof isError === 'number') return Boolean(isError);
  if (typeof isError === 'object' && isError !== null) return true;
  if (typeof error === 'string') return error !== '';
  return error === true || Object.keys(blockOf(error) ?? {}).length > 0;
}

function collectFiles(parts: readonly Part[]): {
  readonly files: readonly McpFile[];
  readonly note: string | null;
} {
  const all = parts.flatMap(({ file }) => file ?? []);
  const more = all.length - MAX_FILES;
  const note = more > 0 ? `[${more} more files: at most ${MAX_FILES} are taken]` : null;
  return { files: all.slice(0, MAX_FILES), note };
}

/** The messages of a filled-in prompt as one text, with their roles where it matters. */
export function promptText(said: unknown): string {
  const result = blockOf(said) ?? {};
  const messages = Array.isArray(result.messages) ? result.messages : [];
  const parts = messages.slice(0, MAX_PARTS).map((message: unknown) => {
    const block = blockOf(message);
    if (block === undefined) return resultText({ content: message }).text;
    const { role, content, text: own } = block;
    const { text } = resultText({ content: content ?? own });
    return role === 'assistant' ? `(As an example of an answer:) ${text}` : text;
  });
  if (parts.length === 0) throw new Error('the prompt that it gave has no messages');
  return cleanLines(parts.join('\n\n'));
}

/** The content of a resource. */
export function resourceText(said: unknown): McpResult {
  const { contents } = blockOf(said) ?? {};
  const all = Array.isArray(contents) ? contents : [contents ?? {}];
  return resultText({ content: all.map((resource) => ({ type: 'resource', resource })) });
}
