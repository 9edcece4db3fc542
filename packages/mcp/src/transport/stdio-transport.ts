import type { JSONRPCMessage, MCPTransport } from '@ai-sdk/mcp';
import { cleanLine } from '../clean-text.ts';
import type { ServerProcess } from './server-process.ts';
import { splitLines } from './split-lines.ts';

/** Largest message of a server; a screenshot fits. In bytes. */
export const LARGEST_MESSAGE = 16 * 1_024 * 1_024;

/** Of what a server wrote to its error output. In characters. */
const KEPT_ERRORS = 400;

/** A transport that says why it ended and passes on what servers say unasked. */
export interface WatchedTransport extends MCPTransport {
  /** Resolves with the reason, in words. */
  readonly ended: Promise<string>;
}

/** What a transport over a child process works with. */
export interface StdioOptions {
  readonly server: ServerProcess;
  readonly parse: (value: unknown) => JSONRPCMessage;
  /** Hears the method of what a server says unasked. */
  readonly onNotice: (method: string) => void;
  /** Messages longer than this end the connection. In bytes. */
  readonly largest?: number;
}

/**
 * One message per line over the streams of a child process. A line that is no message is passed over, as
 * servers print things; one that is too long ends the connection, before it fills the memory. A call that
 * is given up is cancelled at the server, too.
 */
export function stdioTransport(options: StdioOptions): WatchedTransport {
  const { server, parse, onNotice, largest = LARGEST_MESSAGE } = options;
  const reason = Promise.withResolvers<string>();
  let errors = '';
  const waiting = new Set<string | number>();
  const write = (message: JSONRPCMessage): void => {
    if (server.input.writable) server.input.write(`${JSON.stringify(message)}\n`);
  };
  const transport: WatchedTransport = {
    supportsProtocolVersionDiscovery: true,
    ended: reason.promise,
    async start() {
      const lines = splitLines(largest, (line) => {
        try {
          const message = parse(JSON.parse(line));
          if (!('method' in message) && message.id != null) waiting.delete(message.id);
          if ('method' in message && !('id' in message)) onNotice(message.method);
          else transport.onmessage?.(message);
        } catch {
          // Not JSON, not the protocol, or the answer to a call that was given up.
        }
      });
      server.output.on('data', (chunk: Buffer) => {
        if (lines.take(chunk)) return;
        server.output.removeAllListeners('data').resume();
        reason.resolve(`it sent more than ${largest} bytes in one message`);
        transport.onclose?.();
      });
      server.errors.on('data', (chunk: Buffer) => {
        errors = `${errors}${chunk.toString('utf8')}`.slice(-KEPT_ERRORS);
      });
      for (const stream of [server.input, server.output, server.errors]) {
        stream.on('error', () => {}); // Its end is what counts, and that is heard of below.
      }
      server.ended.then((how) => {
        const said = cleanLine(errors, KEPT_ERRORS);
        reason.resolve(said === '' ? how : `${how}; it had said: ${said}`);
        transport.onclose?.();
      });
    },
    async send(message, sending) {
      write(message);
      if (!('id' in message) || !('method' in message)) return;
      const { id } = message;
      waiting.add(id);
      sending?.signal?.addEventListener(
        'abort',
        () => {
          if (!waiting.delete(id)) return;
          const params = { requestId: id, reason: 'given up' };
          write({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
        },
        { once: true },
      );
    },
    async close() {
      reason.resolve('it was closed');
      await server.end();
    },
  };
  return transport;
}
