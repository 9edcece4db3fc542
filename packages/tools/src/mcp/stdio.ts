import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { LARGEST_MESSAGE, MAX_UNASKED_LINES, splitLines } from './bounds.ts';
import { toCleanLine } from './clean.ts';
import { createMessageReader } from './read-message.ts';
import { toBlock } from './schema/json-block.ts';
import type { ServerProcess } from './server-process.ts';

/** The maximum length of the output quoted from a server's standard error, in characters. */
const MAX_ERROR_TEXT = 400;

/** Color codes and the byte order mark, which some servers print before a message. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the regex is meant to match them.
const BEFORE_MESSAGE = /^(?:\uFEFF|\u001b\[[0-9;?]*[A-Za-z])+/;

/** A transport that reports why it ended. */
interface StdioTransport extends Transport {
  /** Resolves with the reason for the end, as text. */
  readonly ended: Promise<string>;
  /** The end of the server's standard error, as one line. */
  lastWords(): string;
}

interface StdioOptions {
  readonly server: ServerProcess;
  /** The maximum size of a message, in bytes; a longer message ends the connection. */
  readonly largest?: number;
}

/**
 * A transport with one message per line over the streams of a child process. Other lines are
 * ignored, because servers print arbitrary output. A line that is too long, or too many lines
 * without a response, closes the connection and kills the server immediately, because a flooding
 * server does not respond to requests either.
 */
export function createStdioTransport({
  server,
  largest = LARGEST_MESSAGE,
}: StdioOptions): StdioTransport {
  const reason = Promise.withResolvers<string>();
  const reader = createMessageReader();
  const waiting = new Set<string | number>();
  let errors = '';
  const lastWords = () => toCleanLine(errors, MAX_ERROR_TEXT);
  /** Parses one line; returns whether it answered a pending request. */
  const takeLine = (line: string): boolean => {
    let isAnswer = false;
    for (const message of reader.read(parseMessageLine(line))) {
      if (!('method' in message)) isAnswer = waiting.delete(message.id) || isAnswer;
      transport.onmessage?.(message);
    }
    return isAnswer;
  };
  const transport: StdioTransport = {
    // These two properties tell the library that the peer is a child process, which may respond
    // late if it is an older server.
    ...{ pid: null, stderr: null },
    ended: reason.promise,
    lastWords,
    async start() {
      const takeLines = splitLines({ bytes: largest, lines: MAX_UNASKED_LINES }, takeLine);
      server.output.on('data', (chunk: Buffer) => {
        const exceeded = takeLines(chunk);
        if (exceeded === null) return;
        server.output.removeAllListeners('data').resume();
        reason.resolve(
          exceeded === 'bytes'
            ? `it sent more than ${largest} bytes in one message`
            : `it sent more than ${MAX_UNASKED_LINES} lines without answering`,
        );
        server.kill();
        transport.onclose?.();
      });
      server.errors.on('data', (chunk: Buffer) => {
        errors = `${errors}${chunk.toString('utf8')}`.slice(-MAX_ERROR_TEXT);
      });
      for (const stream of [server.input, server.output, server.errors]) {
        stream.on('error', () => {}); // The end of the streams is ignored; the exit of the process is handled below.
      }
      server.ended.then((how) => {
        const said = lastWords();
        reason.resolve(said === '' ? how : `${how}; its last output: ${said}`);
        transport.onclose?.();
      });
    },
    async send(message: JSONRPCMessage) {
      reader.sent(message);
      if ('method' in message && 'id' in message) waiting.add(message.id);
      if ('method' in message && message.method === 'notifications/cancelled') {
        const { requestId } = toBlock(message.params) ?? {};
        if (typeof requestId === 'string' || typeof requestId === 'number')
          waiting.delete(requestId);
      }
      if (server.input.writable) server.input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      reason.resolve('it was closed');
      await server.end();
    },
  };
  return transport;
}

/** Returns undefined for a line that is not a message; most such lines are not even parsed. */
function parseMessageLine(line: string): unknown {
  const text = line.replace(BEFORE_MESSAGE, '').trim();
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
