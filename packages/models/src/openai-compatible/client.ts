import type { AnswerPart, ProviderClient } from '../answer-parts.ts';
import type { ModelRequest } from '../chat-model.ts';
import type { HttpResponse, SendModelRequest } from '../http-exchange.ts';
import type { ProviderChoice } from '../model-settings.ts';
import { AnswerReader, type Oddity } from './read-answer.ts';
import { toWireError } from './wire-errors.ts';
import { createRequestWriter } from './write-request.ts';

type CompatibleChoice = Extract<ProviderChoice, { provider: 'openai-compatible' }>;

/** How long token counts may follow the finish reason of an answer, in ms. */
const GRACE_MS = 5_000;
/** How much of an error response's body is read, in bytes. */
const MAX_ERROR_BYTES = 65_536;

/** Called once for each answer with oddities, with the count of each kind. */
export type ReportOddities = (oddities: ReadonlyMap<Oddity, number>) => void;

/**
 * A client for servers that implement OpenAI's chat format in any dialect: it accepts what servers
 * actually send rather than what the format prescribes. Unrecognized content is skipped and
 * counted; a complete answer stays valid regardless of the data after it.
 */
export function createCompatibleClient(
  choice: CompatibleChoice,
  exchange: SendModelRequest,
  report: ReportOddities,
  graceMs: number = GRACE_MS,
): ProviderClient {
  const write = createRequestWriter(choice.model, choice.options);
  const url = `${choice.baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const headers = createRequestHeaders(choice);
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    const answer = await exchange(url, headers, write(request), signal);
    const oddities = new Map<Oddity, number>();
    let isReusable = false;
    try {
      if (answer.status >= 300) throw await readRefusal(answer);
      const reader = new AnswerReader({
        headers: answer.headers,
        offered: new Set((request.callable ?? request.tools)?.map(({ name }) => name)),
        note: (oddity) => void oddities.set(oddity, (oddities.get(oddity) ?? 0) + 1),
      });
      const outcome = yield* streamAnswerParts(answer, reader, graceMs);
      isReusable = outcome !== 'silent';
      yield* reader.end(outcome !== 'broken');
    } finally {
      if (oddities.size > 0) report(oddities);
      if (isReusable) answer.release();
      else answer.destroy();
    }
  }
  return { stream };
}

function createRequestHeaders({
  apiKey,
  headers = {},
}: CompatibleChoice): Readonly<Record<string, string>> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    'content-type': 'application/json',
    'user-agent': 'Parley',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...Object.fromEntries(own),
  };
}

/**
 * How reading ended: the server ended its answer or sent the end marker; a complete answer was
 * followed by silence; or the connection broke, which does not invalidate a complete answer.
 */
type StreamOutcome = 'ended' | 'silent' | 'broken';

async function* streamAnswerParts(
  answer: HttpResponse,
  reader: AnswerReader,
  graceMs: number,
): AsyncGenerator<AnswerPart, StreamOutcome> {
  for (;;) {
    const read = answer.body.next();
    let piece: IteratorResult<Uint8Array, unknown> | null;
    try {
      piece =
        reader.isComplete() && reader.says() ? await waitWithinGrace(read, graceMs) : await read;
    } catch (thrown) {
      // Without a finish reason, an answer that breaks off may be incomplete, even if it looks
      // complete.
      if (reader.isComplete()) return 'broken';
      throw thrown;
    }
    if (piece === null) return 'silent';
    if (piece.done) return 'ended';
    yield* reader.push(piece.value);
    if (reader.isDone()) {
      await answer.body.return?.();
      return 'ended';
    }
  }
}

/**
 * Returns null if nothing arrives in time: some servers keep the connection open after a complete
 * answer.
 */
async function waitWithinGrace<T>(read: Promise<T>, graceMs: number): Promise<T | null> {
  // After the timeout, no caller awaits the read, which may still fail.
  read.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, graceMs, null);
  });
  try {
    return await Promise.race([read, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the error body from a server, as far as it arrives. */
async function readRefusal(answer: HttpResponse): Promise<Error> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    while (size < MAX_ERROR_BYTES) {
      const { done, value } = await answer.body.next();
      if (done) break;
      pieces.push(value);
      size += value.length;
    }
  } catch {
    // The status alone is usually sufficient.
  }
  const body = Buffer.concat(pieces).toString().slice(0, MAX_ERROR_BYTES);
  return toWireError(answer.status, body, answer.headers);
}
