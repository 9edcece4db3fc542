import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/*
 * For tests: a model server on loopback that keeps the bytes of every request and its answer. A
 * second run against the tape gets the same answers, as long as it sends the same bytes.
 */

/** An answer in no particular dialect. */
export interface TapedReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish?: string;
  /** Refuses the request with this status. */
  readonly status?: number;
}

export interface TapeServer {
  readonly baseUrl: string;
  /** The bodies received since the last `forget`, in order. */
  readonly bodies: readonly string[];
  /** The answers to the next requests, one each; afterwards `fine`. */
  next(...replies: readonly TapedReply[]): void;
  /** From now on, answers only what is on the tape, and refuses everything else. */
  replay(): void;
  forget(): void;
  close(): Promise<void>;
}

export async function startTapeServer(): Promise<TapeServer> {
  const tape = new Map<string, readonly TapedReply[]>();
  const used = new Map<string, number>();
  const queue: TapedReply[] = [];
  const bodies: string[] = [];
  let isReplaying = false;
  const answer = (body: string): TapedReply => {
    const known = tape.get(body) ?? [];
    if (!isReplaying) {
      const isSummary = body.includes('You keep the notes of a conversation');
      const reply = isSummary ? SUMMARY : (queue.shift() ?? { text: 'fine' });
      if (!isSummary) bodies.push(body);
      tape.set(body, [...known, reply]);
      return reply;
    }
    bodies.push(body);
    // The same request twice in a row got different answers.
    const nth = used.get(body) ?? 0;
    used.set(body, nth + 1);
    return known[nth] ?? known.at(-1) ?? { status: 409 };
  };
  const server = createServer(async (request, response) => {
    // A client that gives up aborts its request.
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return;
    const body = Buffer.concat(chunks).toString('utf8');
    sendReply(request, response, answer(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    bodies,
    next: (...replies) => void queue.push(...replies),
    replay() {
      isReplaying = true;
    },
    forget: () => void bodies.splice(0),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const SUMMARY: TapedReply = {
  text: '# Facts\n- They talk about birds.\n# Open tasks\n- Count them.',
};

function sendReply({ url }: IncomingMessage, response: ServerResponse, reply: TapedReply): void {
  if (reply.status !== undefined) {
    const error = { message: 'this request is not on the tape', type: 'invalid_request_error' };
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ error }));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = url?.endsWith('/messages') ? toAnthropicEvents(reply) : toOpenAiEvents(reply);
  response.end(events.join(''));
}

function toOpenAiEvents({ text = '', calls = [], finish }: TapedReply): string[] {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const usage = { prompt_tokens: 120, completion_tokens: 9, total_tokens: 129 };
  return [
    ...(text === '' ? [] : [chunk({ content: text })]),
    ...calls.map((call, index) =>
      chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: call }] }),
    ),
    chunk({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`,
  ];
}

const ANTHROPIC_REASONS: Readonly<Record<string, string>> = { length: 'max_tokens' };

function toAnthropicEvents({ text = '', calls = [], finish = '' }: TapedReply): string[] {
  const event = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const block = (index: number, content_block: object, delta: object) => [
    event('content_block_start', { index, content_block }),
    event('content_block_delta', { index, delta }),
    event('content_block_stop', { index }),
  ];
  const texts = text === '' ? [] : [text];
  const message = {
    ...{ id: 'msg', type: 'message', role: 'assistant', model: 'm', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 120, output_tokens: 1 } },
  };
  const stop_reason = ANTHROPIC_REASONS[finish] ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
  return [
    event('message_start', { message }),
    ...texts.flatMap((said) =>
      block(0, { type: 'text', text: '' }, { type: 'text_delta', text: said }),
    ),
    ...calls.flatMap((call, at) =>
      block(
        texts.length + at,
        { type: 'tool_use', id: `toolu_${at}`, name: call.name, input: {} },
        { type: 'input_json_delta', partial_json: call.arguments },
      ),
    ),
    event('message_delta', {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 9 },
    }),
    event('message_stop', {}),
  ];
}
